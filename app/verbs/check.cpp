#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <map>

#include "app/interrupt.h"
#include "app/verb.h"
#include "app/verbs/inputs.h"
#include "app/verbs/options.h"
#include "core/analysis/compare.h"
#include "core/session/session.h"

namespace sonde::app {

namespace {

struct CheckOptions {
    ModelOptions model;
    std::string reference;
    analysis::Tolerance tolerance;  ///< of --rtol and --atol, where one of them is given
    bool isFixed = false;
    InputChoice inputs;
    std::size_t threads = 0;
};

void print(const analysis::ComparedCase& result, std::size_t nameWidth, std::size_t qualnameWidth) {
    for (const analysis::ComparedValue& value : result.values) {
        const std::string label = value.isOutput ? "out." + value.name : value.name;
        fmt::print("{:8} {:{}}  {:{}}  {:>10.3g}  {:>10.3g}  {}{}{}\n", result.label, label, nameWidth,
                   value.qualname.empty() ? "(root)" : value.qualname, qualnameWidth, value.maxAbsolute,
                   value.maxRelative, value.ok ? "ok" : "FAIL", value.note.empty() ? "" : "  ", value.note);
    }
    if (!result.unmatched.empty()) {
        fmt::print("{:8} {} reference values have no node of that name\n", result.label, result.unmatched.size());
    }
    if (const analysis::ComparedValue* first = result.firstDiverging()) {
        fmt::print("{:8} first diverging node: {} ({})\n", result.label, first->name,
                   first->qualname.empty() ? "(root)" : first->qualname);
    }
}

/// Inputs from --input-data by their keys: for those that the reference does not hold.
base::Result<std::map<std::string, tensor::Tensor>> givenInputs(const document::Document& document,
                                                                const InputChoice& choice) {
    std::map<std::string, tensor::Tensor> given;
    if (choice.spec.empty()) return given;
    SONDE_ASSIGN(const auto cases, inputsFor(document, choice));
    for (std::size_t i = 0; i < document.inputs.size() && !cases.empty() && i < cases.front().values.size(); ++i) {
        if (const auto value = analysis::asTensor(cases.front().values[i]))
            given.emplace("in." + document.inputs[i].name, *value);
    }
    return given;
}

base::Result<int> check(CheckOptions& options) {
    SONDE_ASSIGN(const auto document, options.model.load(options.reference));
    SONDE_ASSIGN(const auto given, givenInputs(*document, options.inputs));
    session::Session session(commandLineWork());
    session.show(document);
    session.runs().setSettings({options.threads});
    if (options.isFixed) session.comparison().setTolerances(options.tolerance);
    const analysis::Tolerances& tolerances = session.comparison().tolerances();
    SONDE_ASSIGN(const auto found, session.check(options.reference, given));
    printNotes(found.notes);
    const std::vector<analysis::ComparedCase>& cases = found.cases;
    std::size_t nameWidth = 4, qualnameWidth = 6, compared = 0, failed = 0;
    for (const analysis::ComparedCase& result : cases) {
        for (const analysis::ComparedValue& value : result.values) {
            nameWidth = std::max(nameWidth, value.name.size() + (value.isOutput ? 4 : 0));
            qualnameWidth = std::max(qualnameWidth, value.qualname.size());
            ++compared;
            failed += value.ok ? 0 : 1;
        }
    }
    fmt::print("{:8} {:{}}  {:{}}  {:>10}  {:>10}\n", "case", "name", nameWidth, "qualname", qualnameWidth, "max abs",
               "max rel");
    for (const analysis::ComparedCase& result : cases) print(result, nameWidth, qualnameWidth);
    const std::string allowed =
        options.isFixed ? fmt::format("rtol {:g}, atol {:g}", options.tolerance.relative, options.tolerance.absolute)
                        : fmt::format("float32: {:g} of the largest magnitude, integers: equal", tolerances.float32);
    fmt::print("{} values in {} cases compared, {} failed ({})\n", compared, cases.size(), failed, allowed);
    for (const analysis::ComparedCase& result : cases) {
        if (result.error) return base::Error(*result.error).withNote(result.label);
    }
    return failed == 0 ? 0 : 1;
}

}  // namespace

Verb checkVerb() {
    return {
        "check", "Run on the inputs of a reference file and compare all of its values",
        "sonde check model.onnx reference.npz --rtol 1e-3 --atol 1e-4", [](CLI::App& command) {
            auto options = std::make_shared<CheckOptions>();
            options->model.addTo(command);
            command
                .add_option("REFERENCE", options->reference,
                            "Reference values: an .npz with keys in.NAME, out.NAME, node.NAME")
                ->required();
            options->inputs.addTo(command);
            const CLI::Option* relative =
                command
                    .add_option(
                        "--rtol", options->tolerance.relative,
                        "Allow ATOL + RTOL * |reference| in every element. Without --rtol and --atol each dtype has its "
                        "tolerance: of the largest magnitude of a value float32 1e-4, float16 1e-2, bfloat16 8e-2, float64 "
                        "1e-10; integers and bools are equal")
                    ->capture_default_str();
            const CLI::Option* absolute =
                command.add_option("--atol", options->tolerance.absolute, "See --rtol")->capture_default_str();
            command.add_option("--threads", options->threads, "Number of threads; 0: one per processor");
            return std::function<base::Result<int>()>([options, relative, absolute] {
                options->isFixed = relative->count() + absolute->count() > 0;
                return check(*options);
            });
        }};
}

}  // namespace sonde::app
