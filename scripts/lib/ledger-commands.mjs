/** `npm run ledger -- check-atomic`: checks what commands need of the ledger's database. */
import { IN_PARTS, isAtomic } from "./atomic.mjs";
import { onRecords } from "./command.mjs";
import { UserError } from "./output.mjs";
import { calledAs } from "./places.mjs";

const WHOLE = "A batch of statements takes effect as a whole or not at all.";

export function addCheckAtomic(program) {
  const check = program
    .command("check-atomic")
    .description(
      "check that the database runs a batch of statements as one transaction, as commands need it; the exit code is 1 if not",
    );
  onRecords(check, async ({ kv, print }) => {
    if (!kv.ledger)
      throw new UserError(
        `this needs the ledger, but no database is bound as \`LEDGER_DB\`: run \`${calledAs("deploy")} --dashboard\``,
      );
    const atomic = await isAtomic(kv.ledger);
    const text = atomic ? WHOLE : `${IN_PARTS}. Commands change nothing in the ledger.`;
    print({ data: JSON.stringify({ atomic }), text });
    program.exitCode = atomic ? 0 : 1;
  });
}
