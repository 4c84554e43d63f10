/* What the compiled rules export. */

/** The exports of the WebAssembly module. */
export interface Exports {
  readonly memory: WebAssembly.Memory;
  check_json(area: number, room: number, length: number, isValue: boolean, skip: number): number;
  check_format(area: number, length: number, format: number): number;
}

/** Creates instances of the WebAssembly, or of the same rules as plain JavaScript. */
export interface Rules {
  instantiate(): Exports;
}
