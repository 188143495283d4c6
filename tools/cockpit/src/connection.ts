// The wire: Foxglove's WebSocket protocol, decoded by what the server itself says of its channels.
import { parse as parseDefinition } from "@foxglove/rosmsg";
import { MessageReader } from "@foxglove/rosmsg2-serialization";
import { FoxgloveClient, type Channel, type Parameter, type Service } from "@foxglove/ws-protocol";

const SUBPROTOCOLS = ["foxglove.sdk.v1", "foxglove.websocket.v1"];
const RETRY_MS = 1000;

export type Message = Record<string, unknown>;
export type Answer = { done: boolean; text: string };

export interface Listener {
  server(name: string, metadata: Record<string, string>): void;
  open(): void;
  closed(): void;
  channel(topic: string, schemaName: string): void;
  message(topic: string, simulated: number, message: Message): void;
  status(level: "info" | "warning" | "error", text: string): void;
  parameters(values: Parameter[]): void;
  services(names: string[]): void;
}

/** Keeps trying: a run that ends and begins again is found again. */
export class Connection {
  private client?: FoxgloveClient;
  private readers = new Map<number, { topic: string; reader: MessageReader }>();
  private channels = new Map<number, Channel>();
  private serviceByName = new Map<string, Service>();
  private waiting = new Map<number, (answer: Answer) => void>();
  private nextCall = 1;
  private wanted = new Set<string>();
  private subscribed = new Map<string, number>();

  constructor(private url: string, private listener: Listener) {
    this.connect();
  }

  /** Ask for a topic, now and after every reconnect. */
  want(topic: string): void {
    this.wanted.add(topic);
    for (const channel of this.channels.values()) {
      if (channel.topic === topic) this.subscribe(channel);
    }
  }

  drop(topic: string): void {
    this.wanted.delete(topic);
    const id = this.subscribed.get(topic);
    if (id === undefined) return;
    this.client?.unsubscribe(id);
    this.readers.delete(id);
    this.subscribed.delete(topic);
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

  private connect(): void {
    const client = new FoxgloveClient({ ws: new WebSocket(this.url, SUBPROTOCOLS) });
    this.client = client;
    client.on("open", () => this.listener.open());
    client.on("close", () => this.lost());
    client.on("error", () => undefined); // close follows
    client.on("serverInfo", (info) => {
      this.listener.server(info.name, info.metadata ?? {});
      if (info.capabilities.includes("parameters")) client.getParameters([], "all");
      if (info.capabilities.includes("parametersSubscribe")) client.subscribeParameterUpdates([]);
    });
    client.on("status", (status) => {
      const level = (["info", "warning", "error"] as const)[status.level] ?? "info";
      this.listener.status(level, status.message);
    });
    client.on("advertise", (channels) => channels.forEach((channel) => this.meet(channel)));
    client.on("message", (message) => this.read(message.subscriptionId, message.timestamp, message.data));
    client.on("parameterValues", (event) => this.listener.parameters(event.parameters));
    client.on("advertiseServices", (services) => {
      for (const service of services) this.serviceByName.set(service.name, service);
      this.listener.services([...this.serviceByName.keys()]);
    });
    client.on("serviceCallResponse", (event) => this.answered(event.callId, event.data));
    client.on("serviceCallFailure", (event) => this.answer(event.callId, { done: false, text: event.message }));
  }

  private lost(): void {
    for (const resolve of this.waiting.values()) resolve({ done: false, text: "connection lost" });
    this.waiting.clear();
    this.readers.clear();
    this.channels.clear();
    this.subscribed.clear();
    this.serviceByName.clear();
    this.listener.closed();
    setTimeout(() => this.connect(), RETRY_MS);
  }

  private meet(channel: Channel): void {
    this.channels.set(channel.id, channel);
    this.listener.channel(channel.topic, channel.schemaName);
    if (this.wanted.has(channel.topic)) this.subscribe(channel);
  }

  private subscribe(channel: Channel): void {
    if (!this.client || this.subscribed.has(channel.topic) || channel.encoding !== "cdr") return;
    const reader = new MessageReader(parseDefinition(channel.schema, { ros2: true }));
    const id = this.client.subscribe(channel.id);
    this.subscribed.set(channel.topic, id);
    this.readers.set(id, { topic: channel.topic, reader });
  }

  private read(id: number, timestamp: bigint, data: ArrayBufferView): void {
    const entry = this.readers.get(id);
    if (!entry) return;
    const message = entry.reader.readMessage<Message>(data);
    this.listener.message(entry.topic, Number(timestamp) * 1e-9, message);
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
