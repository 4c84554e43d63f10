import { PledgeClient } from "impact-pledge";
import { ofLostCreates } from "./unsent.mjs";

console.log(JSON.stringify(await ofLostCreates(PledgeClient)));
