/* The entries that a form posts (HTML, "constructing the entry list"), and their fields. */
import { type Field, isAmbiguous, isForeign, isUnreadable, nameOf } from "./fields.ts";
import { own } from "./own.ts";
import type { Control } from "./read.ts";

type Entry = readonly [name: string, value: FormDataEntryValue];

export interface FieldControl extends Control {
  readonly field: Field | null;
}

/** Stands for text that the browser cannot read. It is not a number, and does not count as empty. */
const UNREADABLE = "\uFFFD";

/** Returns functions that read the entry list of a form: the names and values that the browser would post. */
export function entryListOf(form: HTMLFormElement) {
  let posted: Entry[] = [];

  /** Builds the list that the browser would post. Runs the page's `formdata` listeners. */
  function build(submitter?: HTMLElement | null): FormData {
    const data = new FormData(form, submitter);
    posted = [...data];
    return data;
  }

  /**
   * Returns the entry list without running the page's `formdata` listeners, which add the values of custom
   * elements. Reads these values from the elements' properties instead. If that is impossible, takes them
   * from the last list that was built.
   * @param isWanted whether the entries of a name are needed. Default: all are
   */
  function peek(fields: readonly Field[], isWanted = (_: string) => true): Entry[] {
    const listed = withoutListeners(form).filter(([name]) => isWanted(name)),
      names = new Set([...listed.map(([name]) => name), ...fields.map(nameOf)]);
    return [
      ...listed,
      ...fields
        .filter(isForeign)
        .flatMap((field) => valuesOf(field).map((value): Entry => [nameOf(field), String(value)])),
      ...posted.filter(([name]) => !names.has(name)),
    ];
  }

  return { build, peek };
}

function withoutListeners(form: HTMLFormElement): Entry[] {
  const root = own(form, "getRootNode")(),
    stop = (event: Event) => event.stopImmediatePropagation();
  root.addEventListener("formdata", stop, true);
  try {
    return [...new FormData(form)];
  } catch {
    return []; // a `formdata` listener caused this check, while the list is being built
  } finally {
    root.removeEventListener("formdata", stop, true);
  }
}

/** Returns the values of a custom element. Reads the properties that most custom elements have. */
const valuesOf = ({ checked, value }: Field): unknown[] =>
  checked === false ? [] : [value || (checked ? "on" : "")].flat();

/**
 * Returns the posted entries as controls, followed by controls for the fields that post nothing.
 * @param fields in the order of the document
 */
export function controlsOf(fields: readonly Field[], entries: Iterable<Entry>): FieldControl[] {
  const ranks = new Map<Field | null, number>(fields.map((field, rank) => [field, rank])),
    posting = new Map<string, Field[]>(); // by name, and by name and value
  const silent = new Set(fields);
  for (const field of [...fields].reverse())
    if (field.checked || !/^(checkbox|radio)$/.test(field.type))
      for (const key of [nameOf(field), `${nameOf(field)}\0${field.value}`])
        if (!posting.get(key)?.push(field)) posting.set(key, [field]);
  const control = (field: Field | null, name: string, value: string, isPosted: boolean) => {
    const isBad = isUnreadable(field) || isAmbiguous(field, name, value);
    return {
      field,
      name,
      value: isBad ? UNREADABLE : value,
      isSilent: !isPosted && !isBad,
      hidden: !field || field.type === "hidden",
      rank: ranks.get(field),
    };
  };
  const controls = [...entries].flatMap(([name, value]) => {
    const field = posting.get(`${name}\0${value}`)?.pop() ?? posting.get(name)?.at(-1) ?? null;
    silent.delete(field!);
    return typeof value === "string" ? control(field, name, value, true) : [];
  });
  return [...controls, ...[...silent].map((field) => control(field, nameOf(field), "", false))];
}
