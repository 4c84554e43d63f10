/* The issues of a form, each with its field. */
import type { FieldControl } from "./entries.ts";
import { canShow } from "./fields.ts";
import type { OwnerAt, Reading } from "./read.ts";

export type FieldReading = [
  Reading<FieldControl, "field">,
  fieldAt: OwnerAt<FieldControl, "field">,
];
export type FieldIssue = FieldReading[0]["issues"][number];

/** Whether an issue has no field that can show it. */
export const hasNoField = ({ field }: FieldIssue) => !canShow(field);

/**
 * Whether an issue says that no pledge is chosen yet. Such an issue is not shown before the first submission.
 */
export const isIncomplete = (issue: FieldIssue) =>
  groupOf(issue) === "pledges" && issue.code !== "too_many_items";

/**
 * Returns the name of the group of fields that an issue is about, such as `pledges`. Returns undefined for an
 * issue of a single field.
 */
export const groupOf = ({ code, path }: FieldIssue): string | undefined =>
  /_items$/.test(code) || (code === "required" && path[0] === "pledges" && path.length === 1)
    ? path.join(".")
    : undefined;

export const linesOf = (issues: readonly FieldIssue[]) =>
  issues.map(({ pointer, code }) => `${pointer} ${code}`);
