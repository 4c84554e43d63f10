import * as main from "impact-pledge";
import * as badge from "impact-pledge/badge";
import "impact-pledge/choice";
import * as form from "impact-pledge/form";
import * as testing from "impact-pledge/testing";
import * as validator from "impact-pledge/validate";
import { smoke, smokeForm } from "./smoke.mjs";

export const tryAll = (options) => smoke({ main, validator, form, badge, testing }, options);
export const tryForm = (document) => smokeForm(form, document);
