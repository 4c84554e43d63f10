import { tryAll, tryForm } from "./entries.mjs";

const baseUrl = new URLSearchParams(location.search).get("service");
window.result = tryAll({ baseUrl }).then(async (all) => [all, await tryForm(document)]);
