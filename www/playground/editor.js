/** The editor of the request. It is in a shadow root, whose styles a content security policy without inline styles allows. */
import {
  autocompletion,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
  startCompletion,
} from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { json } from "@codemirror/lang-json";
import { indentOnInput, syntaxHighlighting } from "@codemirror/language";
import { forceLinting, linter } from "@codemirror/lint";
import { EditorState } from "@codemirror/state";
import { EditorView, keymap, lineNumbers } from "@codemirror/view";
import { classHighlighter } from "@lezer/highlight";
import { completionsAt } from "./schema.js";
import { THEME } from "./theme.js";

/** Milliseconds after a change until the issues are looked for. */
const DELAY_MS = 80;
const MOST_CHARACTERS = 200_000;

/**
 * Creates the editor. Its text is checked whenever it changes.
 * @param {{host: HTMLElement, label: string, schema: import("./schema.js").Schema, problemsOf: (text: string) => import("./problems.js").Problem[], onChecked: (text: string, problems: import("./problems.js").Problem[]) => void, onSend: () => void}} options
 */
export function createEditor({ host, label, schema, problemsOf, onChecked, onSend }) {
  const root = host.attachShadow({ mode: "open", delegatesFocus: true });
  const check = ({ state }) => {
    const text = String(state.doc);
    const problems = problemsOf(text);
    onChecked(text, problems);
    return problems.map(({ from, to, message }) => ({ from, to, message, severity: "error" }));
  };
  const send = () => {
    onSend();
    return true;
  };
  const extensions = [
    keymap.of([{ key: "Mod-Enter", run: send }]),
    lineNumbers(),
    history(),
    json(),
    closeBrackets(),
    indentOnInput(),
    syntaxHighlighting(classHighlighter),
    autocompletion({ override: [completing(schema)], icons: false }),
    linter(/** @type {any} */ (check), { delay: DELAY_MS }),
    keymap.of([...closeBracketsKeymap, ...completionKeymap, ...defaultKeymap, ...historyKeymap]),
    EditorView.lineWrapping,
    EditorView.contentAttributes.of({ "aria-label": label }),
    EditorState.changeFilter.of(({ newDoc }) => newDoc.length <= MOST_CHARACTERS),
    THEME,
  ];
  const view = new EditorView({ parent: root, root, state: EditorState.create({ extensions }) });
  return {
    text: () => String(view.state.doc),
    set(text) {
      view.setState(EditorState.create({ doc: text, extensions }));
      forceLinting(view);
    },
    select({ from, to }) {
      view.dispatch({ selection: { anchor: from, head: to }, scrollIntoView: true });
      view.focus();
    },
  };
}

/** Returns CodeMirror's source of completions. The filter compares what is written after a quotation mark. */
const completing = (schema) => (context) => {
  const { pos, state, explicit } = context;
  const text = String(state.doc);
  const isStarted = /["{[,]\s*$|\w$/.test(text.slice(Math.max(0, pos - 200), pos));
  const found = explicit || isStarted ? completionsAt(schema, text, pos) : null;
  if (!found) return null;
  const { from, to, completions } = found;
  const start = text[from] === '"' && from < pos ? from + 1 : from;
  const options = completions.map((completion) => optionOf(completion, from, to - pos));
  return { from: start, to: pos, options, validFor: /^\w*$/ };
};

/**
 * `after`: how many characters after the cursor it replaces. They stay the same while more of the name is typed.
 * @param {import("./schema.js").Completion} completion
 * @param {number} from
 * @param {number} after
 */
function optionOf({ label, detail, info, text, cursor, isRequired }, from, after) {
  const apply = (view, _completion, _start, end) => {
    const anchor = from + text.length - cursor;
    view.dispatch({ changes: { from, to: end + after, insert: text }, selection: { anchor } });
    if (/[{[]/.test(text)) startCompletion(view);
  };
  return { label, detail, info, apply, boost: isRequired ? 1 : 0 };
}
