// The socket, on a thread of its own: a page that is busy for a moment must not look like hands that
// are gone.  The newest picture of the hands is repeated, but not for long: nobody flies a page that
// stands, and one that hangs is gone.  A repeat has a time of its own, since the run drops pictures that are old,
// and it is odd, since it answers for nothing that the page does meanwhile (hand.ts).
//
// A page that is too slow must not be ever further behind: when many messages wait for it, older ones
// give way to newer ones.

const REPEAT_MS = 45; // the page itself repeats more often than this
const STUCK_MS = 300; // after which the hands of a page that says nothing are taken off the sticks
const BUSY_MS = 1000; // for which it may say nothing
const TICK_MS = 10;
const BEHIND_MAX = 100; // messages that the page was given and has not looked at
const SERVER_MESSAGE = 1; // opcode; then the subscription
const CLIENT_MESSAGE = 1; // opcode; pictures of hands are all that the page publishes
const AXES_AT = 1 + 4 + 12; // behind opcode, channel, and what is in front of the axes (io/protocol/hand.h)
const AXES_SIZE = 24 * 4;
const SENT_AT = AXES_AT + AXES_SIZE; // uint64, us
const ON_WAY_MS = 10; // a picture that comes from the page may be so old, and must not be older than a repeat before it

export type Order =
  | { do: "open"; address: string; protocols: string[] }
  | { do: "send"; data: string | ArrayBuffer }
  | { do: "yield"; subscription: number } // its newest message is enough
  | { do: "next" } // a message was looked at
  | { do: "rest" } // no picture is repeated
  | { do: "close" };

export type Word =
  | { says: "open"; protocol: string }
  | { says: "message"; data: string | ArrayBuffer; skipped: number } // so many before it
  | { says: "closed" };

/** What comes in, on its way to the page. */
class Inbox {
  private yielding = new Set<number>();
  private behind = 0;
  private waiting = new Map<number, string | ArrayBuffer>(); // in order; by subscription where one is enough, else by a number below 0
  private others = 0;
  private skipped = 0;

  constructor(private say: (word: Word) => void) {}

  mayGiveWay(subscription: number): void {
    this.yielding.add(subscription);
  }

  take(data: string | ArrayBuffer): void {
    const key = this.newestIsEnough(data) ?? --this.others;
    if (this.waiting.delete(key)) this.skipped++;
    this.waiting.set(key, data);
    this.pass();
  }

  next(): void {
    this.behind--;
    this.pass();
  }

  /** All of it, whoever looks at it when. */
  flush(): void {
    this.behind = -Infinity;
    this.pass();
  }

  private pass(): void {
    for (const [key, data] of this.waiting) {
      if (this.behind >= BEHIND_MAX) return;
      this.waiting.delete(key);
      this.behind++;
      this.say({ says: "message", data, skipped: this.skipped });
      this.skipped = 0;
    }
  }

  /** The subscription of such a message. */
  private newestIsEnough(data: string | ArrayBuffer): number | undefined {
    if (typeof data === "string" || data.byteLength < 5) return undefined;
    const view = new DataView(data);
    const subscription = view.getUint32(1, true);
    return view.getUint8(0) === SERVER_MESSAGE && this.yielding.has(subscription) ? subscription : undefined;
  }
}

/** The page's clock, which the picture has, and the time since then; odd. */
function stamp(picture: ArrayBuffer, sinceMs: number): void {
  const onward = BigInt(Math.max(0, Math.round((sinceMs - ON_WAY_MS) * 1000)));
  const view = new DataView(picture);
  if (picture.byteLength >= SENT_AT + 8) view.setBigUint64(SENT_AT, (view.getBigUint64(SENT_AT, true) + onward) | 1n, true);
}

export function startWorker(): void {
  let socket: WebSocket | undefined;
  let picture: ArrayBuffer | undefined;
  let pageMs = 0; // when the page sent its picture
  let sentMs = 0;
  let inbox: Inbox | undefined;
  const say = (word: Word) =>
    postMessage(word, { transfer: word.says === "message" && word.data instanceof ArrayBuffer ? [word.data] : [] });

  function open(address: string, protocols: string[]): void {
    const made = (socket = new WebSocket(address, protocols));
    const messages = (inbox = new Inbox(say));
    made.binaryType = "arraybuffer";
    made.onopen = () => say({ says: "open", protocol: made.protocol });
    made.onmessage = ({ data }) => messages.take(data as string | ArrayBuffer);
    made.onclose = () => {
      picture = undefined;
      messages.flush();
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
    else if (order.do === "next") inbox?.next();
    else if (order.do === "yield") inbox?.mayGiveWay(order.subscription);
    else socket?.close();
  };

  setInterval(() => {
    const now = performance.now();
    if (!picture || now - sentMs < REPEAT_MS || now - pageMs > BUSY_MS || socket?.readyState !== WebSocket.OPEN) return;
    const again = picture.slice(0);
    stamp(again, now - pageMs);
    if (now - pageMs > STUCK_MS) new Uint8Array(again).fill(0, AXES_AT, AXES_AT + AXES_SIZE);
    socket.send(again);
    sentMs = now;
  }, TICK_MS);
}
