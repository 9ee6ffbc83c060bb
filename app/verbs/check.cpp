#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <set>

#include "app/interrupt.h"
#include "app/verb.h"
#include "app/verbs/inputs.h"
#include "app/verbs/options.h"
#include "app/verbs/tolerances.h"
#include "app/verbs/validators.h"
#include "core/analysis/compare.h"
#include "core/analysis/no_elements.h"
#include "core/base/visible_text.h"
#include "core/document/session_model.h"
#include "core/session/session.h"

namespace sonde::app {

namespace {

struct CheckOptions {
    ModelOptions model;
    std::string reference;
    ToleranceChoice tolerances;
    InputChoice inputs;
    std::size_t threads = 0;
};

/// "1 value", "3 values".
std::string counted(std::size_t count, std::string_view what) {
    return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

/// Of an output the name of the node that computes it.
std::string nodeNameOf(const graph::InternalGraph& graph, const analysis::ComparedValue& value) {
    return value.isOutput && value.node.valid() ? graph.node(value.node).name : value.name;
}

// Names are the model's, and may hold anything.

std::string labelOf(const analysis::ComparedValue& value) {
    return base::visibleText(value.isOutput ? "out." + value.name : value.name);
}
std::string qualnameOf(const analysis::ComparedValue& value) {
    return value.qualname.empty() ? "(root)" : base::visibleText(value.qualname);
}

void print(const graph::InternalGraph& graph, const analysis::ComparedCase& result, std::size_t nameWidth,
           std::size_t qualnameWidth) {
    const std::string label = base::visibleText(result.label);
    for (const analysis::ComparedValue& value : result.values) {
        std::string notes;
        for (const std::string& note : {value.note, value.pairingText(), value.typeText(), value.maskText})
            notes += (note.empty() ? "" : "  ") + note;
        const auto number = [&value](double n) {
            return value.isMeasured() && !analysis::hasNoElements(value) ? fmt::format("{:.3g}", n) : "-";
        };
        fmt::print("{:8} {:{}}  {:{}}  {:>10}  {:>10}  {}{}\n", label, labelOf(value), nameWidth, qualnameOf(value),
                   qualnameWidth, number(value.maxAbsolute), number(value.maxRelative), value.ok ? "ok" : "FAIL",
                   base::visibleText(notes));
    }
    if (!result.unmatched.empty())
        fmt::print("{:8} {}\n", label, base::visibleText(analysis::unmatchedText(result.unmatched)));
    if (const analysis::ComparedValue* first = result.firstDiverging()) {
        fmt::print("{:8} first diverging node: {} ({})\n", label, base::visibleText(nodeNameOf(graph, *first)),
                   first->qualname.empty() ? "root" : base::visibleText(first->qualname));
    }
}

/// What was allowed to every dtype that was judged: "float16: 0.01, float32: 0.0001 of the largest magnitude, int64:
/// equal".
std::string allowedText(const std::vector<analysis::ComparedCase>& cases, const analysis::Tolerances& tolerances) {
    std::set<tensor::DType> judged;
    for (const analysis::ComparedCase& each : cases)
        for (const analysis::ComparedValue& value : each.values)
            if (value.dtype != tensor::DType::Undefined)
                judged.insert(tolerances.deciding(value.dtype, value.expectedType));
    std::string floats, exact;
    const auto add = [](std::string& list, const std::string& item) { list += (list.empty() ? "" : ", ") + item; };
    for (const tensor::DType dtype : judged) {
        const std::string name(tensor::name(dtype));
        const bool isExact = tensor::isInteger(dtype) || dtype == tensor::DType::Bool || dtype == tensor::DType::String;
        if (isExact) add(exact, name);
        else add(floats, tolerances.fixed ? name : fmt::format("{}: {:g}", name, tolerances.of(dtype).ofLargest));
    }
    if (tolerances.fixed) {
        floats += floats.empty() ? "" : ": ";
        floats += fmt::format("rtol {:g}, atol {:g}", tolerances.fixed->relative, tolerances.fixed->absolute);
    } else if (!floats.empty()) {
        floats += " of the largest magnitude";
    }
    const double apart = tolerances.integers ? tolerances.integers->absolute : 0;
    exact = (exact.empty() ? "integers" : exact) + (apart > 0 ? fmt::format(": atol {:g}", apart) : ": equal");
    return floats + (floats.empty() ? "" : ", ") + exact;
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

/// Without one that is given the file that the session was compared with last.
base::Result<std::string> referenceFor(const session::Session& session, const CheckOptions& options) {
    if (!options.reference.empty()) return options.reference;
    const document::Document& document = *session.document();
    const auto& noted = session.comparison().references();
    const auto reference = std::ranges::find_if(noted, [](const std::string& file) { return file.ends_with(".npz"); });
    if (reference == noted.end())
        return base::usageError("the session was not compared with any reference file", options.model.model,
                                "give one: sonde check " + options.model.model + " REFERENCE.npz");
    if (!document.session->allowsOutside && !document::isInFolder(*reference, document.session->folder))
        return base::unreadable("the session names a file outside of its folder: " + *reference, options.model.model,
                                "--allow-outside reads it");
    return *reference;
}

base::Result<int> check(CheckOptions& options) {
    if (options.reference.empty() && !document::isSessionFile(options.model.model))
        return base::usageError("REFERENCE is required", options.model.model,
                                "sonde check " + options.model.model + " REFERENCE.npz");
    SONDE_ASSIGN(const auto document, options.model.load(options.reference));
    session::Session session(commandLineWork());
    showIn(session, document);
    SONDE_ASSIGN(const std::string reference, referenceFor(session, options));
    SONDE_ASSIGN(const auto given, givenInputs(*document, options.inputs));
    session.runs().setSettings({options.threads});
    if (options.tolerances.isGiven() || !document->session)
        session.comparison().setTolerances(options.tolerances.tolerances());
    const analysis::Tolerances& tolerances = session.comparison().tolerances();
    SONDE_ASSIGN(const auto found, session.check(reference, given));
    printNotes(found.notes);
    const std::vector<analysis::ComparedCase>& cases = found.cases;
    std::size_t nameWidth = 4, qualnameWidth = 6, compared = 0, failed = 0, empty = 0;
    for (const analysis::ComparedCase& result : cases) {
        for (const analysis::ComparedValue& value : result.values) {
            nameWidth = std::max(nameWidth, labelOf(value).size());
            qualnameWidth = std::max(qualnameWidth, qualnameOf(value).size());
            ++compared;
            failed += value.ok ? 0 : 1;
            empty += analysis::hasNoElements(value) ? 1 : 0;
        }
    }
    fmt::print("{:8} {:{}}  {:{}}  {:>10}  {:>10}\n", "case", "name", nameWidth, "qualname", qualnameWidth, "max abs",
               "max rel");
    for (const analysis::ComparedCase& result : cases) print(*document->graph, result, nameWidth, qualnameWidth);
    fmt::print("{} in {} compared, {} failed ({})\n", counted(compared, "value"), counted(cases.size(), "case"), failed,
               allowedText(cases, tolerances));
    if (empty > 0 && empty == compared) printWarning("no value has elements: nothing was compared", reference);
    for (const analysis::ComparedCase& result : cases) {
        if (result.error) return base::Error(*result.error).withNote(result.label);
    }
    return failed == 0 ? 0 : 1;
}

}  // namespace

Verb checkVerb() {
    return {"check", "Run on the inputs of a reference file and compare all of its values",
            "sonde check model.onnx reference.npz --rtol 1e-3 --atol 1e-4", [](CLI::App& command) {
                auto options = std::make_shared<CheckOptions>();
                options->model.addTo(command);
                command.add_option("REFERENCE", options->reference,
                                   "Reference values: an .npz with keys in.NAME, out.NAME, node.NAME; of a session "
                                   "(.sonde) by default the file that it was compared with last");
                options->inputs.addTo(command);
                options->tolerances.addTo(command);
                addThreads(command, options->threads);
                return std::function<base::Result<int>()>([options] { return check(*options); });
            }};
}

}  // namespace sonde::app
