/** The page of the playground: connects the editor with the service and the results. */
import { createPledgeTransactionSchema } from "impact-pledge/validate";
import { element, find, show } from "../pages/elements.js";
import { showCode, useTabs } from "./code.js";
import { createEditor } from "./editor.js";
import { showIssues } from "./issues.js";
import { showMails, useLanguages } from "./mails.js";
import { problemsOf } from "./problems.js";
import { showAnswer, showLog, showMessages, useTimeline } from "./results.js";
import { SAMPLE, SAMPLE_KEY } from "./sample.js";
import { FAULTS, loadService } from "./service.js";
import { fragmentOf, sharedIn } from "./share.js";

/** A key that can be sent in a header as it is. */
const KEY = /^[!#-[\]-~]([ !#-[\]-~]*[!#-[\]-~])?$/;
const WRONG_KEY = "Use printable ASCII characters, without quotation marks and backslashes.";

const [keyField, faultField, createButton] = ["[data-key]", "[data-fault]", "[data-create]"].map(
  find,
);

/** @type {Awaited<ReturnType<typeof loadService>>} */
let service;
let editor;
/** The requests since the last start. @type {import("./service.js").Exchange[]} */
let exchanges = [];

const given = () => ({ text: editor.text(), key: keyField.value, fault: faultField.value });

function isKeyUsable() {
  keyField.setCustomValidity(keyField.value === "" || KEY.test(keyField.value) ? "" : WRONG_KEY);
  return keyField.reportValidity();
}

/** Sends the request, and shows all that comes of it. */
async function create() {
  if (!service || createButton.disabled || !isKeyUsable()) return;
  const request = given();
  createButton.disabled = true;
  try {
    const exchange = await service.create(request);
    chooseFault("none");
    exchanges.push(exchange);
    await showResults(exchange, request);
  } finally {
    createButton.disabled = false;
  }
}

async function showResults(exchange, { text, key, fault }) {
  const made = exchange.status === 200 ? JSON.parse(exchange.text) : null;
  const read = made && (await service.read(made.id));
  if (read) exchanges.push(read);
  showAnswer({ exchange, read, key, fault, count: service.transactionCount() });
  showLog(exchanges);
  timeline.show(made?.timelineUrl);
  showMessages(made ? service.messagesAbout(made.id) : []);
  showMails({
    isCreated: made !== null,
    isMailed: made !== null && service.isMailed(made.id),
    mailOf: service.mailer(text),
  });
}

const timeline = useTimeline((url, language) => service.timeline(url, language));

function chooseFault(name) {
  faultField.value = name;
  show("[data-fault-hint]", FAULTS[name].hint);
}

/** Copies a text. If the browser refuses, shows it in a field instead. */
async function copy(text, place, done) {
  try {
    await navigator.clipboard.writeText(text);
    show(place, done);
  } catch {
    const field = element("input", { readonly: "", "aria-label": "Text to copy" });
    field.value = text;
    show(place, "Copy this: ", field);
    field.select();
  }
}

function share() {
  const fragment = fragmentOf(given());
  if (fragment === null) return show("[data-shared]", "This request is too long for a link.");
  history.replaceState(null, "", fragment);
  return copy(location.href, "[data-shared]", "The link was copied.");
}

/** Fills in the request of the URL's fragment. Returns whether there was one. */
function open() {
  const found = sharedIn(location.hash, Object.keys(FAULTS));
  const { text, key, fault } =
    found && "shared" in found ? found.shared : { text: SAMPLE, key: SAMPLE_KEY, fault: "none" };
  keyField.value = key;
  chooseFault(fault);
  editor.set(text);
  show("[data-shared]", found && "problem" in found ? found.problem : "");
  return found !== null;
}

function reset() {
  service?.reset();
  exchanges = [];
  history.replaceState(null, "", location.pathname + location.search);
  open();
  showLog(exchanges);
  timeline.show(undefined);
  showMessages([]);
  showMails(null);
  show("[data-answer]");
  show("[data-summary]", "The service has no transactions.");
}

function onChecked(text, problems) {
  showIssues(problems, (problem) => editor.select(problem));
  showCode(problems.length === 0 ? JSON.parse(text) : null, keyField.value);
}

async function start() {
  const schema = createPledgeTransactionSchema["~standard"].jsonSchema.input({
    target: "draft-2020-12",
  });
  find("main").hidden = false;
  editor = createEditor({
    host: find("[data-editor]"),
    label: "Request body, JSON",
    schema,
    problemsOf,
    onChecked,
    onSend: create,
  });
  for (const [name, { label }] of Object.entries(FAULTS))
    faultField.append(element("option", { value: name }, label));
  useTabs();
  useLanguages();
  const isShared = open();
  listen();
  service = await loadService();
  if (!isShared) await create();
}

function listen() {
  createButton.addEventListener("click", create);
  find("[data-share]").addEventListener("click", share);
  find("[data-reset]").addEventListener("click", reset);
  find("[data-copy]").addEventListener("click", () =>
    copy(find("[data-code]").textContent, "[data-copied]", "The code was copied."),
  );
  faultField.addEventListener("change", () => chooseFault(faultField.value));
  keyField.addEventListener("input", () => {
    isKeyUsable();
    showCode(undefined, keyField.value);
  });
  addEventListener("hashchange", open);
}

start().catch((error) => {
  const failed = find("[data-failed]");
  failed.hidden = false;
  failed.textContent = `The playground could not start. It needs a current browser that allows WebAssembly. (${error.message})`;
});
