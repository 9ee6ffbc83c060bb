#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/document/document_types.h"
#include "core/io/dump/dump_file.h"

namespace sonde::document {

/// Document::format of a dump.
inline constexpr std::string_view kDumpFormatName = "dump";

/// The AssertEqual that checks one output of a dump (dump.md, "Test cases"). Nodes are those of the stored graph, and,
/// but for `expected` and `error`, of the document's.
struct OutputCheck {
    std::size_t output = 0;  ///< index of the graph's output
    std::string name;        ///< of the output: "ADD"
    graph::NodeId expected;  ///< the input NAME:expect
    graph::NodeId value;     ///< what is checked
    graph::NodeId error;     ///< the largest difference, an output of the stored graph
    double maxError = 0;
    bool isSilent = false;  ///< its error is not to be printed
};

/// Of Document::properties of a dump: how many test cases its file has.
inline constexpr std::string_view kTestCasesProperty = "test cases";
/// 0: there are none, or the document is no dump.
std::size_t testCaseCount(const Document& document);

/// What a dump holds besides the model. A document of any other format has no cases, and `graph` is its graph.
struct TestCases {
    /// The graph as it is stored: for each check with an input more, and with the error in place of the output.
    std::shared_ptr<const graph::InternalGraph> graph;
    std::vector<OutputCheck> checks;
    std::vector<io::dump::TestCase> cases;
    std::optional<io::dump::Metadata> metadata = {};  ///< of the file, if it keeps any
};

/// The checks of a stored graph, in the order of its outputs.
std::vector<OutputCheck> checksOf(const graph::InternalGraph& graph);

/// The model without its checks: outputs are what was checked, inputs for expected values are gone. Ids stay.
graph::InternalGraph withoutChecks(const graph::InternalGraph& graph, const std::vector<OutputCheck>& checks);

/// The test cases in the file of a document. They are read when they are asked for: most who open a dump need none.
/// Errors (Unreadable): the file has changed or is damaged.
base::Result<TestCases> readTestCases(const Document& document);

/// The values of a test case in the order of the graph's inputs. Error (Unreadable): the case has a value for which
/// there is no input. An input that the case has nothing for gets none.
base::Result<std::vector<tensor::Value>> inputsOfCase(const graph::InternalGraph& graph,
                                                      const io::dump::TestCase& test);

}  // namespace sonde::document
