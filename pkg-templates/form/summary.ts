/* Lines for screen readers: the problems that were just found, and the summary of all. */
import type { Field } from "./fields.ts";
import { focus, hiddenLines } from "./hidden.ts";
import type { Line, liveRegion } from "./live.ts";
import type { Problem } from "./messages.ts";
import { formText } from "./texts.ts";
import type { BindFormOptions } from "./types.ts";

/** The problems that a form shows. */
export interface Shown {
  /** By field. */
  problems: ReadonlyMap<Field, Problem>;
  /** Problems without a field that can show them. */
  lines: ReadonlySet<string>;
}

export function summaryOf(
  live: ReturnType<typeof liveRegion>,
  options: BindFormOptions<boolean>,
  shown: Shown,
  serverLines: ReadonlySet<string>,
) {
  const textAt = (field: Field) => shown.problems.get(field)?.text;
  const countNow = () => shown.problems.size + new Set([...shown.lines, ...serverLines]).size;

  /** Adds a line for each problem. The line stays as long as its field has the same problem text. */
  function add(problems: readonly [Field, Problem][]): void {
    live.add(problems.map(([field, { text }]) => ({ text, holds: () => textAt(field) === text })));
  }

  /**
   * Announces the number of problems, and each problem without a field. An announced line stays as long as its
   * text is true. Focuses the first field with a problem. If that field is not visible, lists the problems of
   * all invisible fields instead, and focuses the list.
   */
  function announce(texts: ReadonlySet<string>, first: Field | undefined): void {
    const count = countNow(),
      summary = options.summary?.(count) ?? formText(options.messages, "summary", { count });
    const isSeen = first && focus(first);
    const others: Line[] = [...texts].map((text) => ({
      text,
      holds: () => shown.lines.has(text) || serverLines.has(text),
      isVisible: true,
    }));
    if (!isSeen) others.push(...hiddenLines([...shown.problems.keys()], textAt));
    live.clear();
    live.add([
      { text: summary, holds: () => countNow() === count, isVisible: others.length > 0 },
      ...others,
    ]);
    if (!isSeen) live.focus();
  }

  return { add, announce };
}
