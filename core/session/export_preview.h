#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/document/document_types.h"
#include "core/document/export_form.h"

namespace sonde::session {

using document::ExportForm;

/// How far an output of an exported file is from the model's.
struct ExportedOutput {
    std::string name;  ///< in the model
    double error = 0;  ///< max |e - g| / max(min(|e|, |g|), 1), as test cases of dumps have it; infinite where only
                       ///< one of both is NaN, or the shapes differ; NaN: they are no numbers
    double maxAbsolute = 0;  ///< max |e - g|; infinite and NaN likewise
    std::string note;        ///< why they could not be compared; the types, where they are not the same
};

/// The model, or one form of it.
struct ExportMeasure {
    std::string label;
    std::size_t operations = 0;      ///< graph::operationCount
    std::uint64_t weightBytes = 0;   ///< of all constants, shared ones once
    std::uint64_t fileBytes = 0;     ///< of all files; of a model without a file 0
    std::optional<std::int64_t> ns;  ///< median time of a run; empty: it could not be run
    std::vector<ExportedOutput> outputs;
    std::optional<base::Error>
        error;  ///< why it could not be written, read or run; the members before are known anyway
    base::Diagnostics notes;

    /// Whether the file could be written and read: its operations and weights were counted.
    bool isCounted() const { return !error || operations > 0 || weightBytes > 0; }
    /// Of its outputs that are numbers; NaN without any.
    double largestError() const;
    double largestAbsolute() const;
    /// The time: "0.0123 ms", "856 ms", "1,043 ms". Empty if it could not be run.
    std::string timeText() const;
};

/// What becomes of a model in each form.
struct ExportPreview {
    ExportMeasure model;
    std::vector<ExportMeasure> forms;
    std::size_t threads = 0;  ///< that the runs were done on

    /// A table: operations, weights, file, largest error, time; then notes and errors. Ends with a line break.
    std::string text() const;
    /// The same as one JSON object, with every output.
    std::string json() const;
};

/// Runs for timing: after one that does not count (unless it takes kLongRunNs) until they take kTimedNs together, but
/// kMinTimedRuns at least and kMaxTimedRuns at most.
inline constexpr std::int64_t kLongRunNs = 1'000'000'000, kTimedNs = 200'000'000;
inline constexpr std::size_t kMinTimedRuns = 3, kMaxTimedRuns = 15;

/// Writes each form to a file in a temporary folder, opens it again, runs it on `inputs` (in the order of the
/// document's graph->inputs()), and compares its outputs with the model's by position. What goes wrong with one form is
/// told in its measure. `threads` 0: one per processor. Errors: cancelled; the folder cannot be made.
base::Result<ExportPreview> previewExport(const document::Document& document, std::span<const tensor::Value> inputs,
                                          std::span<const ExportForm> forms, std::size_t threads = 0,
                                          const base::WorkContext& work = {});

}  // namespace sonde::session
