#pragma once

#include <vector>

#include "core/analysis/axis_move.h"
#include "core/analysis/call_arguments.h"

namespace sonde::analysis {

/// Of one family of operators: see axisMoves(). Operand and result have shapes.
using AxisRule = std::vector<AxisMove> (*)(const CallArguments& call, const Operand& operand);

namespace axes {

std::vector<AxisMove> alike(const CallArguments& call, const Operand& operand);       ///< element by element
std::vector<AxisMove> firstAlike(const CallArguments& call, const Operand& operand);  ///< the first input alone
std::vector<AxisMove> broadcast(const CallArguments& call, const Operand& operand);
/// All along the axis (attribute `axis`, parameter `dim`), element by element along the others.
std::vector<AxisMove> alongAxis(const CallArguments& call, const Operand& operand);
std::vector<AxisMove> normalised(const CallArguments& call, const Operand& operand);      ///< all of the last axes
std::vector<AxisMove> perChannel(const CallArguments& call, const Operand& operand);      ///< all behind [N, C]
std::vector<AxisMove> perImage(const CallArguments& call, const Operand& operand);        ///< all behind [N]
std::vector<AxisMove> acrossChannels(const CallArguments& call, const Operand& operand);  ///< all of axis 1

// Windows: [N, C, D…] or [C, D…].
std::vector<AxisMove> convolved(const CallArguments& call, const Operand& operand);
std::vector<AxisMove> pooled(const CallArguments& call, const Operand& operand);
std::vector<AxisMove> resampled(const CallArguments& call, const Operand& operand);
std::vector<AxisMove> padded(const CallArguments& call, const Operand& operand);
std::vector<AxisMove> toBlocks(const CallArguments& call, const Operand& operand);
std::vector<AxisMove> fromBlocks(const CallArguments& call, const Operand& operand);

// Sums over axes.
std::vector<AxisMove> linear(const CallArguments& call, const Operand& operand);
std::vector<AxisMove> product(const CallArguments& call, const Operand& operand);
std::vector<AxisMove> einsum(const CallArguments& call, const Operand& operand);
std::vector<AxisMove> attended(const CallArguments& call, const Operand& operand);
std::vector<AxisMove> recurrent(const CallArguments& call, const Operand& operand);
std::vector<AxisMove> reduced(const CallArguments& call, const Operand& operand);

// Shapes and parts.
std::vector<AxisMove> transposed(const CallArguments& call, const Operand& operand);
std::vector<AxisMove> reshaped(const CallArguments& call, const Operand& operand);
std::vector<AxisMove> stacked(const CallArguments& call, const Operand& operand);
std::vector<AxisMove> gathered(const CallArguments& call, const Operand& operand);
std::vector<AxisMove> embedded(const CallArguments& call, const Operand& operand);
std::vector<AxisMove> sliced(const CallArguments& call, const Operand& operand);
std::vector<AxisMove> selected(const CallArguments& call, const Operand& operand);
std::vector<AxisMove> indexed(const CallArguments& call, const Operand& operand);  ///< x[index] of Python

/// Every axis of the operand at the same position of the result, moved by `offset`; what it would move out is all.
std::vector<AxisMove> moved(const Operand& operand, std::int64_t offset = 0);
/// Counted from the end if negative; nothing outside of `rank`.
std::optional<std::size_t> axisOf(std::int64_t axis, std::size_t rank);
inline std::size_t rankOf(const tensor::TypeInfo& type) { return type.shape->size(); }

}  // namespace axes

}  // namespace sonde::analysis
