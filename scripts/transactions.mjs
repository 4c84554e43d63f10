/** `npm run transactions -- list|find|show|erase|usage|quantities|export|backup|restore`: the recorded transactions of the local or the deployed service. */
import { command } from "./lib/command.mjs";
import { addBackup, addRestore } from "./transactions/backups.mjs";
import { addErase } from "./transactions/erase.mjs";
import { addFind, addList } from "./transactions/find.mjs";
import { addShow } from "./transactions/show.mjs";
import { addExport, addQuantities, addUsage } from "./transactions/sums.mjs";

const transactions = command("npm run transactions --", "Recorded transactions of the service.");
addList(transactions);
addFind(transactions);
addShow(transactions);
addErase(transactions);
addUsage(transactions);
addQuantities(transactions);
addExport(transactions);
addBackup(transactions);
addRestore(transactions);

export default transactions;
