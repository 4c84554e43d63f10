/** The way into the compiled rules: names and values go in as one text, the payload and its issues come back as JSON. */
import { rules } from "../rules.js";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/**
 * @param {{name: string, value: string, hidden: boolean}[]} controls
 * @returns {{payload: object, issues: {control: number | null, path: (string | number)[], pointer: string, code: string, message: string}[]}}
 */
export function read(controls) {
  const { memory, form_input, form_read, form_length } = rules();
  const bytes = encoder.encode(controls.map(line).join(""));
  new Uint8Array(memory.buffer, form_input(bytes.length), bytes.length).set(bytes);
  const start = form_read();
  const answer = decoder.decode(new Uint8Array(memory.buffer, start, form_length()));
  return JSON.parse(answer);
}

/** NUL stands between the parts, as HTML has none in a text. */
const line = ({ name, value, hidden }) => `${hidden ? "-" : "+"}${plain(name)}\0${plain(value)}\0`;
const plain = (text) => text.replaceAll("\0", "\uFFFD");
