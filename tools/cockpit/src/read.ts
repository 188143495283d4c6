// Reading values that nobody vouches for: whatever comes, there is something to draw.

export function number(value: unknown, otherwise = 0): number {
  const read = typeof value === "bigint" ? Number(value) : value;
  return typeof read === "number" && Number.isFinite(read) ? read : otherwise;
}

/** The numbers of an array, typed or not, NaN where one is none; empty where it is no array. */
export function numbers(value: unknown): number[] {
  if (!isList(value)) return [];
  return Array.from(value, (each) => number(each, NaN));
}

/** Exactly so many numbers, all finite. */
export function vector(value: unknown, count: number): number[] {
  const read = numbers(value);
  return Array.from({ length: count }, (_, i) => number(read[i]));
}

export function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

export function fields(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

export function list(value: unknown): unknown[] {
  return isList(value) ? Array.from(value) : [];
}

/** Undefined where there is no JSON. */
export function json(source: string | undefined): unknown {
  try {
    return source === undefined ? undefined : JSON.parse(source);
  } catch {
    return undefined;
  }
}

function isList(value: unknown): value is ArrayLike<unknown> & Iterable<unknown> {
  return Array.isArray(value) || (ArrayBuffer.isView(value) && !(value instanceof DataView));
}
