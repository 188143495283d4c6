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

  constructor(address: string, protocols: string[]) {
    worker.onmessage = ({ data: word }: MessageEvent<Word>) => this.heard(word);
    order({ do: "open", address, protocols });
  }

  send(data: string | ArrayBuffer | ArrayBufferView): void {
    if (typeof data === "string") return order({ do: "send", data });
    const bytes = ArrayBuffer.isView(data) ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength) : new Uint8Array(data);
    const copy = bytes.slice().buffer;
    order({ do: "send", data: copy }, [copy]);
  }

  /** The newest picture of the hands is not repeated any more. */
  rest(): void {
    order({ do: "rest" });
  }

  close(): void {
    order({ do: "close" });
  }

  private heard(word: Word): void {
    if (word.says === "message") this.onmessage?.({ data: word.data });
    else if (word.says === "closed") this.onclose?.({});
    else {
      this.protocol = word.protocol;
      this.onopen?.({});
    }
  }
}
