/** The form's tests on `impact-pledge/form/js`, under a policy that forbids WebAssembly. */
import { usePlain } from "./form-page.mjs";

usePlain();
await import("./form.test.mjs");
