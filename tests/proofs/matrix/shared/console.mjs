import { tryAll } from "./entries.mjs";

console.log(JSON.stringify(await tryAll({ baseUrl: process.argv[2] })));
