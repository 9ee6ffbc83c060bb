#pragma once

#include <filesystem>
#include <iosfwd>
#include <memory>
#include <span>

#include "core/base/progress.h"
#include "core/document/document_types.h"
#include "core/document/export_form.h"
#include "core/export/export_choice.h"

namespace sonde::exporting {

/// What an export has written.
struct WrittenExport {
    std::shared_ptr<const graph::InternalGraph>
        graph;                             ///< of a dump with its checks; of a traced module the document's
    base::Diagnostics notes;               ///< what the file does otherwise than the model
    io::dump::WriteInfo dump;              ///< of a dump
    std::vector<std::string> outputNames;  ///< of a dump
    /// All that was written: the model and, if there are any, FILE.data and the list of operators.
    std::vector<std::filesystem::path> files;
};

/// Writes a document in the chosen format. `inputs`: what the model is run on where a format needs a run, a value for
/// each of the graph's inputs; empty: numbers of the usual shape. Errors (Usage): the format does not fit the document
/// (a traced module of a model that was not traced so), an option that does not fit; those of makeDump(), onnxGraph(),
/// applyPasses() and optimize(); (Run) the file cannot be written.
base::Result<WrittenExport> writeExport(const Document& document, const ExportChoice& choice,
                                        const std::filesystem::path& path, std::span<const tensor::Value> inputs = {},
                                        const base::WorkContext& work = {});

/// Writes a dump at a stream's position (io::dump::writeDump); ExportSettings::append has no effect. Errors: the same;
/// another format (Usage).
base::Result<WrittenExport> writeExport(const Document& document, const ExportChoice& choice, std::ostream& stream,
                                        std::span<const tensor::Value> inputs = {}, const base::WorkContext& work = {});

/// The steps of a choice (exportSteps), as forms that session::previewExport() can measure. None of them writes into
/// files that the choice names.
std::vector<document::ExportForm> exportForms(const std::shared_ptr<const Document>& document,
                                              const ExportChoice& choice, const std::vector<tensor::Value>& inputs);

/// Whether a document can be written in a format, as far as that is known without trying. Errors (Usage): why not.
base::Result<void> checkExport(const Document& document, ExportFormat format);

}  // namespace sonde::exporting
