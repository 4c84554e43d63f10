import { PledgeClient } from "impact-pledge";
import { strays } from "./contexts.mjs";

console.log(JSON.stringify(await strays(PledgeClient)));
