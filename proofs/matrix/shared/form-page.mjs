import * as form from "impact-pledge/form";
import { smokeForm } from "./smoke.mjs";

window.result = smokeForm(form, document);
