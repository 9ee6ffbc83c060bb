#include "app/verbs/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>

#include "app/interrupt.h"
#include "app/verbs/inputs.h"
#include "core/base/visible_text.h"
#include "core/document/session_model.h"
#include "core/graph/missing_data.h"
#include "core/passes/report.h"
#include "core/session/edits/edit_count.h"
#include "core/session/session_state.h"

namespace sonde::app {

void ModelOptions::addTo(CLI::App& command) {
    command
        .add_option(
            "MODEL", model,
            "Model file (.onnx, TorchScript .pt; recognised by content) or zoo:NAME, zoo:NAME?classes=10&width=0.5")
        ->required();
    const std::size_t before = command.get_options().size();
    command.add_option("--tracer", open.tracer, "module-path, traced-module, robust or custom")
        ->check(CLI::IsMember({"module-path", "traced-module", "robust", "custom"}));
    command
        .add_option("--leaf", open.leaves,
                    "Class whose modules are not traced into (again for more); none: trace into all")
        ->allow_extra_args(false);
    command.add_option("--concrete", concrete, "NAME=VALUE: give a parameter a fixed value (again for more)")
        ->allow_extra_args(false);
    command.add_option(
        "--example", open.inputData,
        "Example inputs that the trace follows through decisions on the data: x:image.png;mask:#rand(0,1). Each decision becomes a "
        "guard, at which a run fails whose input decides otherwise");
    command.add_option(
        "--weights", open.weights,
        "For zoo:NAME: take parameters and buffers by name from FILE (state dict or TorchScript .pt, .npz, .onnx); all must fit");
    command.add_flag(
        "--allow-native", open.allowNative,
        "MODEL may be a shared library (.so): load it, which runs its code with your rights. Without it, only libraries that you agreed to in "
        "the window are loaded");
    command
        .add_option("--pass", open.passes,
                    "Change the graph before use (again for more, in order); `sonde passes` lists them")
        ->type_name("NAME")
        ->allow_extra_args(false);
    command.add_flag("!--no-groups", open.groups,
                     "ONNX files without module names: do not group repeated and self-contained parts");
    command.add_option("--model", open.sessionModel,
                       "MODEL is a session (.sonde): open it with this model in place of the one that it names");
    command.add_flag("--allow-outside", open.allowOutside,
                     "MODEL is a session (.sonde): read what it names outside of its folder");
    command.add_flag("--flatten", open.flatten, "Flatten: replace every module call by its operations");
    const auto all = command.get_options();
    m_options.assign(all.begin() + static_cast<std::ptrdiff_t>(before), all.end());
}

void ModelOptions::tellUnused(const std::string& why) const {
    for (const CLI::Option* option : m_options)
        if (option->count() > 0) printWarning(option->get_name() + " has no effect " + why);
}

base::Result<void> checkOutputs(const VerbFiles& files, const std::vector<document::FileRead>& read) {
    for (auto one = files.outputs.begin(); one != files.outputs.end(); ++one) {
        const auto& [option, path] = *one;
        if (path.empty()) continue;
        if (path == "-")
            return base::usageError("this is written to a file, not to standard output", std::string(option) + " -",
                                    "a file of that name is ./-");
        SONDE_TRY(document::checkOutput(path, option, read));
        for (auto other = files.outputs.begin(); other != one; ++other)
            if (document::isSameFile(path, other->second))
                return base::usageError("'" + path + "' would be written twice",
                                        std::string(other->first) + ", " + std::string(option), "choose another file");
    }
    return {};
}

namespace {

void warnOfEdits(const document::Document& document) {
    if (!document.session) return;
    const auto count = std::ranges::count_if(document.session->file.edits, &io::SessionFile::Edit::isEnabled);
    if (count == 0) return;
    const std::string edits = session::editCountText(static_cast<std::size_t>(count));
    printWarning("this is without the " + edits +
                 " of the session: `sonde debug`, `sonde save` and `sonde dump` make edits");
}

}  // namespace

base::Result<std::shared_ptr<const document::Document>> ModelOptions::load(const std::string& inputData,
                                                                           const VerbFiles& files) {
    const bool isSession = document::isSessionFile(model);
    for (const char* option : {"--model", "--allow-outside"})
        if (!isSession && (option[2] == 'm' ? !open.sessionModel.empty() : open.allowOutside))
            return base::usageError(std::string(option) + " is for session files (.sonde)", model);
    std::vector<std::string> specs = files.inputData;
    specs.push_back(inputData);
    SONDE_TRY(checkOutputs(files, document::inputFiles(open, specs)));
    if (!files.mayReplaceModel || isSession) SONDE_TRY(checkOutputs(files, document::modelFiles(model)));
    if (open.tracer == "traced-module" && open.inputData.empty()) open.inputData = inputData;
    open.concrete.clear();
    for (const std::string& text : concrete) {
        const std::size_t equals = text.find('=');
        if (equals == std::string::npos || equals == 0) {
            return base::usageError("'" + text + "' is not NAME=VALUE", "--concrete");
        }
        open.concrete.emplace_back(text.substr(0, equals), text.substr(equals + 1));
    }
    auto document = document::open(model, open, commandLineWork());
    if (!document) return document;
    if (needsValues)
        if (const auto complete = graph::checkComplete((*document)->graph); !complete)
            return base::Error(complete.error()).at((*document)->location + ", " + complete.error().where);
    // Only now is known which files beside the model have its data.
    const bool isReplaced = files.mayReplaceModel && !isSession && (*document)->format == "ONNX" &&
                            document::isSameFile(files.outputs.front().second, model);
    if (!isReplaced) SONDE_TRY(checkOutputs(files, document::modelFiles(**document)));
    if (!makesEdits) warnOfEdits(**document);
    for (const base::Diagnostic& finding : (*document)->diagnostics) {
        if (finding.severity == base::Severity::Info) continue;
        const char* kind = finding.severity == base::Severity::Error ? "problem" : "warning";
        const std::string where = finding.where.empty() ? std::string() : " (" + finding.where + ')';
        std::fprintf(stderr, "sonde: %s: %s\n", kind, base::visibleText(finding.what + where).c_str());
        if (!finding.hint.empty()) std::fprintf(stderr, "hint: %s\n", base::visibleText(finding.hint).c_str());
    }
    for (const passes::PassReport& report : (*document)->passReports)
        std::fprintf(stderr, "sonde: pass %s", report.text().c_str());
    return document;
}

void showIn(session::Session& session, std::shared_ptr<const document::Document> document, bool withEdits) {
    session.show(std::move(document));
    for (const std::string& lost : session::restoreSession(session)) printWarning("not restored: " + lost);
    if (!withEdits) session.edits().clear();
}

std::string bothSpellings(std::string_view name) {
    const bool hasUnderscores = name.find('_') != std::string_view::npos;
    std::string other(name);
    std::ranges::replace(other, hasUnderscores ? '_' : '-', hasUnderscores ? '-' : '_');
    return "--" + std::string(name) + (other == name ? "" : ",--" + other);
}

std::string qualnameText(const graph::InternalGraph& graph, graph::NodeId node) {
    const auto& qualname = graph.expr(graph.node(node).producer).qualname;
    if (!qualname) return "-";
    return qualname->empty() ? "(root)" : *qualname;
}

}  // namespace sonde::app
