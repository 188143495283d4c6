// The page's end of the socket that its worker holds.
import type { IWebSocket } from "@foxglove/ws-protocol";
import type { Order, Word } from "./wire_worker";

const worker = new Worker("/cockpit.js");

function order(what: Order, moved: ArrayBuffer[] = []): void {
  worker.postMessage(what, moved);
}

/** One at a time: the next is opened after this one has closed. */
export class Wire implements IWebSocket {
  binaryType = "arraybuffer";
  protocol = "";
  onerror: IWebSocket["onerror"];
  onopen: IWebSocket["onopen"];
  onclose: IWebSocket["onclose"];
  onmessage: IWebSocket["onmessage"];

  /** `skipped` is told how many messages gave way to newer ones. */
  constructor(address: string, protocols: string[], private skipped: (count: number) => void) {
    worker.onmessage = ({ data: word }: MessageEvent<Word>) => this.heard(word);
    order({ do: "open", address, protocols });
  }

  send(data: string | ArrayBuffer | ArrayBufferView): void {
    if (typeof data === "string") return order({ do: "send", data });
    const bytes = ArrayBuffer.isView(data) ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength) : new Uint8Array(data);
    const copy = bytes.slice().buffer;
    order({ do: "send", data: copy }, [copy]);
  }

  /** Of this subscription the newest message is enough. */
  mayGiveWay(subscription: number): void {
    order({ do: "yield", subscription });
  }

  /** The newest picture of the hands is not repeated any more. */
  rest(): void {
    order({ do: "rest" });
  }

  close(): void {
    order({ do: "close" });
  }

  private heard(word: Word): void {
    if (word.says === "message") {
      order({ do: "next" });
      if (word.skipped > 0) this.skipped(word.skipped);
      this.onmessage?.({ data: word.data });
    } else if (word.says === "closed") this.onclose?.({});
    else {
      this.protocol = word.protocol;
      this.onopen?.({});
    }
  }
}
