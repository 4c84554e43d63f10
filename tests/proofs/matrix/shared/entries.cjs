const main = require("impact-pledge");
const badge = require("impact-pledge/badge");
require("impact-pledge/choice");
const form = require("impact-pledge/form");
const testing = require("impact-pledge/testing");
const validator = require("impact-pledge/validate");
const { EXPECTED, EXPECTED_FORM, smoke, smokeForm } = require("./smoke.cjs");

exports.tryAll = (options) => smoke({ main, validator, form, badge, testing }, options);
exports.tryForm = (document) => smokeForm(form, document);
Object.assign(exports, { EXPECTED, EXPECTED_FORM });
