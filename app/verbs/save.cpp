#include <CLI/CLI.hpp>
#include <utility>

#include "app/interrupt.h"
#include "app/verb.h"
#include "app/verbs/export_arguments.h"
#include "app/verbs/inputs.h"
#include "app/verbs/options.h"
#include "app/verbs/session_edits.h"
#include "core/export/write_export.h"
#include "core/passes/pass.h"

namespace sonde::app {

namespace {

struct SaveOptions {
    ModelOptions model;
    InputChoice inputs;
    ExportArguments arguments{exporting::ExportFormat::Onnx};
    std::string output;
};

base::Result<int> save(SaveOptions& options) {
    const bool isPreview = options.arguments.isPreview;
    if (options.output.empty() && !isPreview) return base::usageError("-o FILE is missing", "save");
    VerbFiles files;
    if (!isPreview) files.outputs = {{"--output", options.output}, {"--output", options.output + ".data"}};
    files.mayReplaceModel = !isPreview;
    if (isPreview) {
        // Passes are a step of their own: the rows before it are of the model without them.
        options.arguments.choice.settings.passes = std::exchange(options.model.open.passes, {});
        for (const std::string& pass : options.arguments.choice.settings.passes) SONDE_TRY(passes::findPass(pass));
    }
    SONDE_ASSIGN(const auto opened, options.model.load(options.inputs.spec, files));
    SONDE_ASSIGN(const auto document, withSessionEdits(opened, options.inputs));
    // ONNX models are not run, and need no inputs.
    std::vector<tensor::Value> values;
    if (opened->format != "ONNX" || isPreview) {
        SONDE_ASSIGN(const auto cases, inputsFor(*opened, options.inputs));
        values = cases.front().values;
    }
    if (isPreview) return options.arguments.printPreview(document, values);
    SONDE_ASSIGN(
        const exporting::WrittenExport written,
        exporting::writeExport(*document, options.arguments.choice, options.output, values, commandLineWork()));
    for (const base::Diagnostic& note : written.notes) printWarning(note.what, note.where);
    return 0;
}

}  // namespace

Verb saveVerb() {
    return {"save", "Write a model as an ONNX file, after passes if requested",
            "sonde save resnet18.trace.pt -o resnet18.onnx --input-data '#rand(0,1)'", [](CLI::App& command) {
                auto options = std::make_shared<SaveOptions>();
                options->model.addTo(command);
                options->model.makesEdits = true;
                options->inputs.addTo(command);
                command.add_option("-o,--output", options->output, "The ONNX file to write");
                options->arguments.addTo(command);
                return std::function<base::Result<int>()>([options] { return save(*options); });
            }};
}

}  // namespace sonde::app
