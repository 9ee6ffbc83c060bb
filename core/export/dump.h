#pragma once

#include <set>
#include <string>
#include <vector>

#include "core/document/document_types.h"
#include "core/document/test_cases.h"
#include "core/io/dump/dump_file.h"
#include "core/io/dump/export_options.h"
#include "core/io/inputs/inputs.h"

namespace sonde::exporting {

using document::Document;

/// How a dump is made, with MegEngine's defaults (dump.md, "Options").
struct DumpOptions {
    std::vector<std::string> argNames;     ///< of the inputs; empty: arg_0, arg_1 … An empty one: as in the model
    std::vector<std::string> outputNames;  ///< empty: what the operator is called ("ADD"), or the keys of a dict
    int keepVarName = 1;                   ///< 0: outputs are called unnamed0 …
    io::dump::NameOptions names;
    bool optimize = true;
    int optLevel = 2;  ///< with `optimize`: 0 leaves the arithmetic as it is, 1 and 2 run the pass simplify-arithmetic
    io::dump::InferenceOptions inference;
    bool metadata = true;
    std::string userInfo;  ///< any bytes, such as the text of a JSON object
    bool noAssert = false;
    double maxError = 1e-4;
    io::InputOptions input;
    bool resizeInput = false;
    std::string inputTransform;
    int modelVersion = io::dump::kModelVersion;  ///< of FBS_V2; has no effect on FBS
    std::string format = "FBS_V2";               ///< or "FBS", whose readers know no ConvBias
    bool noChangeGraph = false;      ///< FBS: ConvBias stays, instead of becoming convolution, sum and activation
    std::string compatOlderVersion;  ///< "8.14", of FBS whose graph may change; kept in the metadata
    /// What the model is run on where it has to be run to be written in ONNX operators: one value for each of
    /// document.inputs. Empty: the first test case, or numbers of the usual shape.
    std::vector<tensor::Value> example;
    bool silent = false;  ///< load-and-run does not print the errors of the checks
};

/// A model as a static graph, optimised if asked for, with a test case for each entry of `inputData` (an entry @FILE
/// gives one for each line). A case holds the inputs and, unless `noAssert`, what the graph gave before it was
/// optimised; each output is then the error value of an AssertEqual. Layouts, float16 and fusions write the model in
/// ONNX operators of fixed sizes first, which have no guards and assertions: `notes` name those and the sizes. Where
/// they change no operation, the model's own operations are written. Errors (Usage): a wrong number of
/// names, two outputs of one name, options of other engines, input data that does not fit.
base::Result<io::dump::DumpFile> makeDump(const Document& document, const std::vector<std::string>& inputData,
                                          const DumpOptions& options, const base::WorkContext& work = {});

using document::inputsOfCase;

/// How one output of a graph is checked.
struct CheckOptions {
    std::string name;  ///< of the output
    double maxError = 1e-4;
    bool isSilent = false;
};
/// Replaces each output by the error of an AssertEqual against an input NAME:expect. `checks`: one for each output.
void addChecks(graph::InternalGraph& graph, const std::vector<CheckOptions>& checks);

/// What a runtime must have: operators, dtypes, and which elementwise operators.
void collectStripInfo(const graph::InternalGraph& graph, std::set<std::string>& operators,
                      std::set<std::string>& dtypes, std::set<std::string>& modes);

}  // namespace sonde::exporting

/// The names under which these were known when they were part of core/document.
namespace sonde::document {
using exporting::collectStripInfo;
using exporting::DumpOptions;
using exporting::makeDump;
}  // namespace sonde::document
