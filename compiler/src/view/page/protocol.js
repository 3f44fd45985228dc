// Frames and messages of the server: decoding, checks, and when inputs are sent. Nothing here knows the page.

const CHANNELS_AT_MOST = 1024;

// The object in a text message, or null if it is none.
export function decodeText(text) {
  try {
    const message = typeof text === "string" ? JSON.parse(text) : text;
    return message && typeof message === "object" && typeof message.type === "string" ? message : null;
  } catch {
    return null;
  }
}

// A binary message as { header, data } where `data` are its bytes after the header. Throws an Error that says what is wrong.
export function decodeFrame(buffer) {
  const bytes = buffer instanceof ArrayBuffer ? new Uint8Array(buffer) : new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength);
  if (bytes.length < 4) throw new Error("the frame is shorter than its header");
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  if (4 + length > bytes.length) throw new Error("the frame is shorter than its header");
  let header;
  try {
    header = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes.subarray(4, 4 + length)));
  } catch {
    throw new Error("the header of the frame is not JSON");
  }
  if (!header || typeof header !== "object" || typeof header.type !== "string") throw new Error("the header of the frame has no type");
  const start = Math.min(bytes.length, Math.ceil((4 + length) / 4) * 4);
  const data = bytes.subarray(start);
  if (header.type === "picture") return pictureFrame(header, data);
  if (header.type === "geometry") return geometryFrame(header, data);
  if (header.type === "table" || header.type === "file") return { header, data };
  throw new Error(`frames of type ${header.type} are unknown`);
}

const isSize = (n) => Number.isInteger(n) && n >= 0;

// Views of 32 bits need addresses that are multiples of 4, which a transport may not give.
function aligned(data, length) {
  return data.byteOffset % 4 === 0 ? data.subarray(0, length) : data.slice(0, length);
}

function pictureFrame(header, data) {
  const { size, channels, encoding } = header;
  if (!Array.isArray(size) || size.length < 1 || size.length > 3 || !size.every(isSize)) throw new Error("the picture has no size");
  if (!isSize(channels) || channels < 1 || channels > CHANNELS_AT_MOST) throw new Error("the picture has no channels");
  if (encoding !== "f32" && encoding !== "u8") throw new Error(`the encoding ${encoding} is unknown`);
  const stride = header.stride ?? 1;
  if (!isSize(stride) || stride < 1) throw new Error("the stride of the picture is not a positive number");
  const count = size.reduce((product, n) => product * n, channels);
  const needed = encoding === "f32" ? 4 * count : count;
  if (data.length < needed) throw new Error(`the picture needs ${needed} bytes but has ${data.length}`);
  const full = size.map((n, k) => (isSize(header.full?.[k]) ? Math.max(header.full[k], (n - 1) * stride + 1) : n * stride));
  const part = aligned(data, needed);
  const samples = encoding === "f32" ? new Float32Array(part.buffer, part.byteOffset, count) : part;
  const scale = Array.isArray(header.scale) && header.scale.every((x) => typeof x === "number") ? header.scale : [0, 1];
  return { header: { ...header, stride, full, scale }, data, samples };
}

// A sample as a number. Of 8 bits, code 255 is NaN and 0 … 254 go from the low to the high end of `scale`.
export function sampleValue(frame, index) {
  const x = frame.samples[index];
  if (x === undefined) return NaN;
  if (frame.header.encoding === "f32") return x;
  return x === 255 ? NaN : frame.header.scale[0] + ((frame.header.scale[1] - frame.header.scale[0]) * x) / 254;
}

// All channels at a position of the full grid: those of the nearest sample that the frame has.
export function pixelValues(frame, position) {
  const { size, stride, channels } = frame.header;
  const at = size.map((n, k) => Math.min(n - 1, Math.max(0, Math.round((position[k] ?? 0) / stride))));
  if (at.some((i) => i < 0)) return [];
  const first = channels * at.reduceRight((index, i, k) => index * size[k] + i, 0);
  return Array.from({ length: channels }, (_, c) => sampleValue(frame, first + c));
}

// Where a position of the full grid is in the world, or null.
export function worldPosition(place, position) {
  if (!place || !Array.isArray(place.origin) || !Array.isArray(place.directions)) return null;
  return place.origin.map((start, k) => place.directions.reduce((sum, direction, axis) => sum + (position[axis] ?? 0) * (direction?.[k] ?? 0), start));
}

function geometryFrame(header, data) {
  if (!["points", "lines", "triangles"].includes(header.kind)) throw new Error(`geometry of kind ${header.kind} is unknown`);
  const sections = {};
  for (const section of Array.isArray(header.sections) ? header.sections : []) {
    const { name, offset, length, type } = section ?? {};
    if (typeof name !== "string" || !isSize(offset) || !isSize(length) || offset + length > data.length) throw new Error("a section of the geometry is outside of its frame");
    if (type !== "f32" && type !== "u32") throw new Error(`sections of type ${type} are unknown`);
    const part = aligned(data.subarray(offset), length);
    const values = type === "f32" ? new Float32Array(part.buffer, part.byteOffset, length >> 2) : new Uint32Array(part.buffer, part.byteOffset, length >> 2);
    sections[name] = { ...section, components: section.components || 1, values };
  }
  const positions = sections.positions;
  if (!positions || positions.values.length % 3 !== 0) throw new Error("the geometry has no positions");
  const points = positions.values.length / 3;
  if (header.kind === "lines") {
    const lengths = sections.lengths?.values;
    if (!lengths || lengths.reduce((sum, n) => sum + n, 0) > points) throw new Error("the lines have more points than positions");
  }
  return { header: { ...header, dimension: header.dimension === 2 ? 2 : 3 }, data, sections, points };
}

// Decides when inputs are sent, so that a drag does not flood the server: at once if the drag is over, else when the last frame was
// shown or 100 ms have passed. `clock` and `send` are given, so that tests need neither time nor a server. `least` is a number that grows
// with time: several pages of a server number their changes by it, so that each knows which frames have its own.
export class InputSender {
  constructor(send, clock, least = () => 0) {
    this.send = send;
    this.clock = clock;
    this.least = least;
    this.waiting = {};
    this.lastId = 0;
    this.sentAt = -Infinity;
    this.answered = true;
    this.movedAt = null;
    this.sentFor = new Map();
  }

  change(inputs, dragging) {
    Object.assign(this.waiting, inputs);
    if (dragging) {
      this.movedAt = this.clock();
    } else {
      this.flush(false);
    }
  }

  // The drag ended: what waits is sent, or the server is asked to refine what it has.
  finish() {
    if (Object.keys(this.waiting).length > 0) this.flush(false);
    else if (this.movedAt !== null) this.send({ type: "rest" });
    this.movedAt = null;
  }

  // Called once per animation frame.
  tick() {
    const now = this.clock();
    if (Object.keys(this.waiting).length > 0) {
      if (this.answered || now - this.sentAt >= 100) this.flush(true);
    } else if (this.movedAt !== null && now - this.movedAt >= 150) {
      this.movedAt = null;
      this.send({ type: "rest" });
    }
  }

  get busy() {
    return this.movedAt !== null || Object.keys(this.waiting).length > 0;
  }

  shown() {
    this.answered = true;
  }

  flush(dragging) {
    const inputs = this.waiting;
    this.waiting = {};
    this.lastId = Math.max(this.lastId + 1, this.least());
    this.sentAt = this.clock();
    this.answered = false;
    if (!dragging) this.movedAt = null;
    for (const [name, value] of Object.entries(inputs)) {
      if (value === null) this.sentFor.delete(name);
      else this.sentFor.set(name, this.lastId);
    }
    this.send({ type: "set", id: this.lastId, inputs, dragging });
  }

  // Whether the server's value of an input is newer than what the page has: it is not while an edit is under way or unanswered.
  accepts(name, answeredId) {
    if (name in this.waiting || (this.sentFor.get(name) ?? 0) > answeredId) return false;
    // Once answered, it does not stand against the numbers of other pages.
    this.sentFor.delete(name);
    return true;
  }

  // A new server counts from the beginning.
  restart() {
    this.waiting = {};
    this.movedAt = null;
    this.answered = true;
    this.sentFor.clear();
  }
}
