/**
 * The way into the compiled rules: names and values go in as one text, the payload and its issues come back.
 * `src/client/fields.rs` is the other half of this file, and says how the memory is laid out.
 */
import { compile } from "#module";
import { PROBLEM, inOrder, read as readProblems } from "../validate/issues.js";

const ENTRY = 24; // bytes
const AROUND = 64; // bytes of JSON that one control can need beyond six for each byte of its text
const NOBODY = 0xffff_ffff;
const PAGE = 65_536;
/** What one big form took is given back with its instance. */
const MOST_KEPT = 16 * 1024 * 1024;

const encoder = new TextEncoder();
const decoder = new TextDecoder();
/** What runs, and where its memory is ours. */
let engine;

function start() {
  const { memory, read_form } = new WebAssembly.Instance(compile(), {}).exports;
  return { memory, read_form, area: memory.grow(1) * PAGE };
}

/**
 * @param {{name: string, value: string, hidden: boolean}[]} controls
 * @returns {{payload: object, issues: {control: number | null, path: (string | number)[], pointer: string, code: string, message: string}[]}}
 */
export function read(controls) {
  const { memory, read_form, area } = (engine ??= start());
  const text = encoder.encode(controls.map(line).join(""));
  const parts = layout(area, controls.length, text.length);
  grow(memory, parts.end);
  new Uint8Array(memory.buffer).set(text, parts.text);
  const length = read_form(parts.problems, controls.length, text.length);
  const found = result(memory.buffer, parts, length);
  if (memory.buffer.byteLength > MOST_KEPT) engine = undefined;
  return found;
}

/** NUL stands between the parts, as HTML has none in a text. */
const line = ({ name, value, hidden }) => `${hidden ? "-" : "+"}${plain(name)}\0${plain(value)}\0`;
const plain = (text) => text.replaceAll("\0", "\uFFFD");

function layout(problems, controls, length) {
  const room = 4 * controls + 8;
  const owners = problems + room * PROBLEM;
  const count = owners + room * 4;
  const json = count + 8 + controls * ENTRY;
  const most = 6 * length + AROUND * (controls + 1);
  const text = json + 2 * most;
  return { problems, owners, count, json, text, end: text + length };
}

function grow(memory, end) {
  const missing = end - memory.buffer.byteLength;
  if (missing > 0) memory.grow(Math.ceil(missing / PAGE));
}

function result(buffer, { problems, owners, count, json }, length) {
  const bytes = new Uint8Array(buffer, json, length);
  const part = (from, size) => JSON.parse(`"${decoder.decode(bytes.subarray(from, from + size))}"`);
  const [problem] = new Uint32Array(buffer, count, 1);
  const found = readProblems(new Uint32Array(buffer, problems), problem, part);
  new Uint32Array(buffer, owners, problem).forEach((owner, nth) => {
    if (found[nth]) found[nth].issue.control = owner === NOBODY ? null : owner;
  });
  return { payload: JSON.parse(decoder.decode(bytes)), issues: inOrder(found) };
}
