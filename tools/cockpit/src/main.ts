// One file for the page and for its worker.
import { startWorker } from "./wire_worker";

if (typeof document === "undefined") startWorker();
else void import("./page");
