// The socket, on a thread of its own: a page that is busy for a moment must not look like hands that
// are gone.  The newest picture of the hands is repeated, but not for long: nobody flies a page that
// stands, and one that hangs is gone.

const REPEAT_MS = 45; // the page itself repeats more often than this
const STUCK_MS = 300; // after which the hands of a page that says nothing are taken off the sticks
const BUSY_MS = 1000; // for which it may say nothing
const TICK_MS = 10;
const CLIENT_MESSAGE = 1; // opcode; pictures of hands are all that the page publishes
const AXES_AT = 1 + 4 + 12; // behind opcode, channel, and what is in front of the axes (io/protocol/hand.h)
const AXES_SIZE = 24 * 4;

export type Order =
  | { do: "open"; address: string; protocols: string[] }
  | { do: "send"; data: string | ArrayBuffer }
  | { do: "rest" } // no picture is repeated
  | { do: "close" };

export type Word =
  | { says: "open"; protocol: string }
  | { says: "message"; data: string | ArrayBuffer }
  | { says: "closed" };

export function startWorker(): void {
  let socket: WebSocket | undefined;
  let picture: ArrayBuffer | undefined;
  let pageMs = 0; // when the page sent its picture
  let sentMs = 0;
  const say = (word: Word) =>
    postMessage(word, { transfer: word.says === "message" && word.data instanceof ArrayBuffer ? [word.data] : [] });

  function open(address: string, protocols: string[]): void {
    const made = (socket = new WebSocket(address, protocols));
    made.binaryType = "arraybuffer";
    made.onopen = () => say({ says: "open", protocol: made.protocol });
    made.onmessage = ({ data }) => say({ says: "message", data: data as string | ArrayBuffer });
    made.onclose = () => {
      picture = undefined;
      say({ says: "closed" });
    };
  }

  function send(data: string | ArrayBuffer): void {
    if (socket?.readyState !== WebSocket.OPEN) return;
    socket.send(data);
    if (typeof data === "string" || new Uint8Array(data)[0] !== CLIENT_MESSAGE) return;
    picture = data;
    pageMs = sentMs = performance.now();
  }

  onmessage = ({ data: order }: MessageEvent<Order>) => {
    if (order.do === "open") open(order.address, order.protocols);
    else if (order.do === "send") send(order.data);
    else if (order.do === "rest") picture = undefined;
    else socket?.close();
  };

  setInterval(() => {
    const now = performance.now();
    if (!picture || now - sentMs < REPEAT_MS || now - pageMs > BUSY_MS || socket?.readyState !== WebSocket.OPEN) return;
    if (now - pageMs > STUCK_MS) new Uint8Array(picture).fill(0, AXES_AT, AXES_AT + AXES_SIZE);
    socket.send(picture);
    sentMs = now;
  }, TICK_MS);
}
