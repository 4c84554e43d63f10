// Messages are a locale pack, a map by code or a function; anything else doesn't compile.
import {
  type createPledgeTransactionSchema,
  createSchema,
  validate,
  validateAt,
  validateBytes,
  type IssueMeta,
  type LocalePack,
  type Messages,
} from "impact-pledge/validate";
import { de } from "impact-pledge/locales/de";
import ja from "impact-pledge/locales/ja";

const all: Messages[] = [
  de,
  ja,
  { required: "fehlt", invalid_type: ({ meta }) => meta.expected },
  ({ code, pointer }) => (code === "required" ? pointer : undefined),
];
for (const messages of all) {
  validate({}, { messages, maxIssues: 1 });
  validateAt("/reference", "", { messages });
  validateBytes(new Uint8Array(), { messages });
  createSchema({ messages })["~standard"].validate({});
}
const schema: typeof createPledgeTransactionSchema = createSchema();
schema["~standard"].validate({}, { libraryOptions: { messages: de } });
// @ts-expect-error no problem has this code
validate({}, { messages: { nonsense: "…" } });
// @ts-expect-error a message is a text
validate({}, { messages: { required: 1 } });
// @ts-expect-error a pack has all codes
const short: LocalePack = { required: "fehlt" };
const meta: IssueMeta = validate({})[0]!.meta;
// @ts-expect-error what an issue carries is shared by all of its kind
meta.minimum = 1;
export { short };
