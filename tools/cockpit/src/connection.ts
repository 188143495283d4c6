// The wire: Foxglove's WebSocket protocol, decoded by what the server itself says of its channels.
import { parse as parseDefinition } from "@foxglove/rosmsg";
import { MessageReader } from "@foxglove/rosmsg2-serialization";
import { FoxgloveClient, type Channel, type Parameter, type Service } from "@foxglove/ws-protocol";
import { asViewer, socketOf } from "./address";
import { Wire } from "./wire";

const SUBPROTOCOLS = ["foxglove.sdk.v1", "foxglove.websocket.v1"];
const RETRY_MS = 1000;
const ANSWER_MS = 5000;
const REFUSALS = 2; // one may have been an accident
/** Of these every message counts; of others the newest. */
const WHOLE = new Set(["/log", "/authority", "/desk", "/scene", "/scene/straight"]);
const HAND = { topic: "/hand", encoding: "hand", schemaName: "hand" };
const PING = "ping "; // then the time: parameters that come back with such an id were asked for to take it

export type Message = Record<string, unknown>;
export type Answer = { done: boolean; text: string };
export type Level = "info" | "warning" | "error";

export interface Listener {
  server(name: string, metadata: Record<string, string>): void;
  open(): void;
  closed(): void;
  channel(topic: string, schemaName: string, schema: string): void;
  message(topic: string, simulated: number, message: Message): void;
  status(level: Level, text: string, id: string): void;
  statusGone(id: string): void;
  skipped(count: number): void;
  parameters(values: Parameter[]): void;
  services(names: string[]): void;
  roundTrip(ms: number): void;
}

/** Keeps trying: a run that ends and begins again is found again. */
export class Connection {
  private wire?: Wire;
  private client?: FoxgloveClient;
  private readers = new Map<number, { topic: string; reader: MessageReader }>();
  private channels = new Map<number, Channel>();
  private serviceByName = new Map<string, Service>();
  private waiting = new Map<number, (answer: Answer) => void>();
  private nextCall = 1;
  private wanted = new Set<string>();
  private subscribed = new Map<string, number>();
  private unreadable = new Set<string>();
  private handChannel?: number;
  private isOpen = false;
  private refusals = 0; // one after the other, by a server that is there

  /** `search` is what the run wants behind its address. */
  constructor(private search: string, private listener: Listener) {
    this.connect();
  }

  /** Ask for a topic, now and after every reconnect. */
  want(topic: string): void {
    this.wanted.add(topic);
    for (const channel of this.channels.values()) {
      if (channel.topic === topic) this.subscribe(channel);
    }
  }

  has(service: string): boolean {
    return this.serviceByName.has(service);
  }

  call(name: string, request: object = {}): Promise<Answer> {
    const service = this.serviceByName.get(name);
    const client = this.client;
    if (!service || !client) return Promise.resolve({ done: false, text: `no service ${name}` });
    const callId = this.nextCall++;
    const data = new TextEncoder().encode(JSON.stringify(request));
    client.sendServiceCallRequest({
      serviceId: service.id,
      callId,
      encoding: "json",
      data: new DataView(data.buffer, data.byteOffset, data.byteLength),
    });
    return new Promise((resolve) => this.waiting.set(callId, resolve));
  }

  set(name: string, value: number): void {
    // The type tells 2 from 2.0, which JSON does not.
    this.client?.setParameters([{ name, value, type: "float64" } as unknown as Parameter], "set");
  }

  /** The run takes pictures of hands. */
  get takesHands(): boolean {
    return this.handChannel !== undefined;
  }

  hand(bytes: Uint8Array): void {
    if (this.handChannel !== undefined) this.client?.sendMessage(this.handChannel, bytes);
  }

  /** No picture comes for a while, and none is missed. */
  handsOff(): void {
    this.wire?.rest();
  }

  /** Asks for something small; roundTrip() tells how long the answer took. */
  ping(): void {
    if (this.channels.size === 0) return;
    this.client?.getParameters([], `${PING}${performance.now()}`);
  }

  /** A new run at the same address has another token, and refuses this page's.  Then one may still watch. */
  private get isBarred(): boolean {
    return this.refusals >= REFUSALS && this.refusals % 2 === 0;
  }

  private connect(): void {
    const search = this.isBarred ? asViewer(this.search) : this.search;
    this.wire = new Wire(socketOf(search), SUBPROTOCOLS, (count) => this.listener.skipped(count));
    const client = (this.client = new FoxgloveClient({ ws: this.wire }));
    client.on("open", () => {
      this.isOpen = true;
      this.listener.open();
    });
    client.on("close", () => this.lost());
    client.on("error", () => undefined); // close follows
    client.on("serverInfo", (info) => {
      const capabilities: string[] = info.capabilities ?? [];
      const encodings = info.supportedEncodings ?? [];
      if (capabilities.includes("clientPublish") && encodings.includes(HAND.encoding)) this.handChannel = client.advertise(HAND);
      this.listener.server(info.name, info.metadata ?? {});
      if (search !== this.search) this.listener.status("warning", "this run has another operator token, so you may only watch; to command, open the address that it printed", "");
      if (capabilities.includes("parameters")) client.getParameters([], "all");
      if (capabilities.includes("parametersSubscribe")) client.subscribeParameterUpdates([]);
    });
    client.on("status", (status) => {
      const level = (["info", "warning", "error"] as const)[status.level] ?? "info";
      this.listener.status(level, String(status.message), status.id ?? "");
    });
    client.on("removeStatus", ({ statusIds }) => statusIds.forEach((id) => this.listener.statusGone(id)));
    client.on("advertise", (channels) => channels.forEach((channel) => this.meet(channel)));
    client.on("message", (message) => this.read(message.subscriptionId, message.timestamp, message.data));
    client.on("parameterValues", (event) => {
      if (event.id?.startsWith(PING)) this.listener.roundTrip(performance.now() - Number(event.id.slice(PING.length)));
      else this.listener.parameters(event.parameters);
    });
    client.on("advertiseServices", (services) => {
      for (const service of services) this.serviceByName.set(service.name, service);
      this.listener.services([...this.serviceByName.keys()]);
    });
    client.on("serviceCallResponse", (event) => this.answered(event.callId, event.data));
    client.on("serviceCallFailure", (event) => this.answer(event.callId, { done: false, text: event.message }));
  }

  private async lost(): Promise<void> {
    const wasOpen = this.isOpen;
    this.isOpen = false;
    for (const resolve of this.waiting.values()) resolve({ done: false, text: "connection lost" });
    this.waiting.clear();
    this.readers.clear();
    this.channels.clear();
    this.subscribed.clear();
    this.serviceByName.clear();
    this.unreadable.clear();
    this.handChannel = undefined;
    this.listener.closed();
    const isRefusal = !wasOpen && asViewer(this.search) !== this.search && (await this.answers());
    this.refusals = isRefusal ? this.refusals + 1 : 0;
    setTimeout(() => this.connect(), RETRY_MS);
  }

  /** The server is there, and still does not let this page in: browsers do not say why. */
  private answers(): Promise<boolean> {
    return fetch("/icon.svg", { cache: "no-store", signal: AbortSignal.timeout(ANSWER_MS) }).then(({ ok }) => ok, () => false);
  }

  private meet(channel: Channel): void {
    this.channels.set(channel.id, channel);
    this.listener.channel(channel.topic, channel.schemaName, channel.schema);
    if (this.wanted.has(channel.topic)) this.subscribe(channel);
  }

  private subscribe(channel: Channel): void {
    if (!this.client || this.subscribed.has(channel.topic) || channel.encoding !== "cdr") return;
    try {
      const reader = new MessageReader(parseDefinition(channel.schema, { ros2: true }));
      const id = this.client.subscribe(channel.id);
      this.subscribed.set(channel.topic, id);
      this.readers.set(id, { topic: channel.topic, reader });
      if (!WHOLE.has(channel.topic)) this.wire?.mayGiveWay(id);
    } catch {
      this.complain(channel.topic, "has a definition that this page cannot read");
    }
  }

  private read(id: number, timestamp: bigint, data: ArrayBufferView): void {
    const entry = this.readers.get(id);
    if (!entry) return;
    let message: Message;
    try {
      message = entry.reader.readMessage<Message>(data);
    } catch {
      this.complain(entry.topic, "has messages that are not as its definition says");
      return;
    }
    this.listener.message(entry.topic, Number(timestamp) * 1e-9, message);
  }

  /** Once for each topic. */
  private complain(topic: string, what: string): void {
    if (this.unreadable.has(topic)) return;
    this.unreadable.add(topic);
    this.listener.status("warning", `${topic} ${what}`, "");
  }

  private answered(callId: number, data: ArrayBufferView): void {
    const text = new TextDecoder().decode(data);
    let answer: Answer = { done: true, text };
    try {
      const parsed = JSON.parse(text) as { done?: boolean; success?: boolean; text?: string; message?: string };
      answer = { done: parsed.done ?? parsed.success ?? true, text: parsed.text ?? parsed.message ?? "" };
    } catch {
      // Not JSON: shown as it came.
    }
    this.answer(callId, answer);
  }

  private answer(callId: number, answer: Answer): void {
    this.waiting.get(callId)?.(answer);
    this.waiting.delete(callId);
  }
}
