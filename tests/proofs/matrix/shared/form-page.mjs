import * as form from "impact-pledge/form";
import "impact-pledge/badge";
import "impact-pledge/choice";
import { smokeForm } from "./smoke.mjs";

window.result = smokeForm(form, document);
