#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/graph/internal_graph.h"

namespace sonde::session::diff {

/// One thing that an operation is set to, under one name in both vocabularies: of aten::elu(x, 1.6) and of
/// Elu(alpha=1.6) {"alpha", {1.6}}. Axes count from the front.
struct OperationSetting {
    std::string_view name;
    std::vector<double> values;
};

/// The name of the setting that an operand is a number, with that number.
inline constexpr std::string_view kNumberOperand = "number";

/// What the file says of an operation of ONNX or ATen, with the defaults of its vocabulary; left out where it is
/// computed, or where the table in the source has no row. `rank` is that of the first operand, -1 where it is not
/// known: then axes that count from the end are left out.
std::vector<OperationSetting> operationSettings(const graph::InternalGraph& graph, const graph::Expr& expr,
                                                std::int64_t rank);

/// How two operations that compute the same function differ in what both files say: "alpha: 1 -> 1.6"; "": they do not.
/// Numbers are equal if they are the same float32. Exporters make one of several transpositions in a row: their order
/// is compared only if `readTheSame`.
std::string otherSettings(const graph::InternalGraph& first, const graph::Expr& ours,
                          const graph::InternalGraph& second, const graph::Expr& theirs, bool readTheSame);

/// Of two products that read matrices with the same elements: "weight: read as [in, out] -> [out, in]" if the one reads
/// it transposed; else "".
std::string otherReading(const graph::InternalGraph& first, const graph::Expr& ours, const graph::InternalGraph& second,
                         const graph::Expr& theirs);

}  // namespace sonde::session::diff
