/** The look of the editor, in the colours of the page. */
import { EditorView } from "@codemirror/view";

const MONO = "ui-monospace, 'Cascadia Mono', Menlo, Consolas, monospace";

export const THEME = EditorView.theme({
  "&": {
    color: "var(--ink)",
    backgroundColor: "var(--sheet)",
    border: "1px solid var(--edge)",
    borderRadius: "6px",
    fontSize: "0.875rem",
  },
  "&.cm-focused": { outline: "2px solid var(--leaf)", outlineOffset: "1px" },
  ".cm-scroller": { fontFamily: MONO, lineHeight: "1.55", maxHeight: "40rem" },
  ".cm-content": { caretColor: "var(--ink)", padding: "0.5rem 0" },
  ".cm-gutters": {
    color: "var(--soft)",
    backgroundColor: "var(--wash)",
    borderRight: "1px solid var(--line)",
    borderRadius: "6px 0 0 6px",
  },
  ".cm-lintRange-error": {
    backgroundImage: "none",
    textDecoration: "underline wavy var(--problem)",
    textUnderlineOffset: "3px",
  },
  ".cm-lintPoint-error::after": { borderBottomColor: "var(--problem)" },
  ".cm-tooltip": {
    color: "var(--ink)",
    backgroundColor: "var(--sheet)",
    border: "1px solid var(--edge)",
    borderRadius: "6px",
  },
  ".cm-diagnostic-error": { borderLeftColor: "var(--problem)" },
  ".cm-tooltip-autocomplete > ul > li": { padding: "0.2rem 0.5rem" },
  ".cm-tooltip-autocomplete > ul > li[aria-selected]": {
    color: "var(--on-leaf)",
    backgroundColor: "var(--leaf)",
  },
  ".cm-completionDetail": { fontStyle: "normal", opacity: "0.8" },
  ".cm-completionMatchedText": { textDecoration: "none", fontWeight: "bold" },
  ".cm-completionInfo": { maxWidth: "16rem", padding: "0.4rem 0.6rem" },
  ".tok-propertyName": { color: "var(--leaf)" },
  ".tok-string": { color: "var(--ink)" },
  ".tok-number, .tok-bool, .tok-null": { color: "var(--number)" },
});
