#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/ops/registry/registry.h"
#include "core/ops/support/scores.h"

/// Ensembles of decision trees of ai.onnx.ml: every form of them becomes one Forest.
namespace sonde::ops {

enum class TreeMode : std::uint8_t { LessOrEqual, Less, GreaterOrEqual, Greater, Equal, NotEqual, Member };
enum class TreeAggregate { Average, Sum, Min, Max };

/// A node that is no leaf. A child at 0 or above is a split, below 0 the leaf −1 − child.
struct TreeSplit {
    double threshold = 0;
    std::int64_t feature = 0;
    TreeMode mode = TreeMode::LessOrEqual;
    bool missingIsTrue = false;
    std::int64_t onTrue = 0;
    std::int64_t onFalse = 0;
    std::size_t firstMember = 0, members = 0;
};

/// What a leaf adds to one target.
struct LeafWeight {
    std::size_t target = 0;
    double value = 0;
};

struct Forest : PreparedState {
    std::vector<TreeSplit> splits;
    std::vector<double> memberValues;
    std::vector<std::vector<LeafWeight>> leaves;
    std::vector<std::int64_t> roots;  ///< as a split's child
    std::vector<double> base;         ///< empty or one for each target
    std::size_t targets = 1;
    std::int64_t features = 0;  ///< needed at least
    TreeAggregate aggregate = TreeAggregate::Sum;
    PostTransform transform = PostTransform::None;
};

inline constexpr std::int64_t kMaxTreeTargets = 1 << 20;

/// Reads the lists nodes_* of the older operators; the weights' prefix is "class_" or "target_". Errors: lists of
/// different lengths; nodes that do not exist, or form a cycle.
base::Result<std::unique_ptr<Forest>> forestOfLists(const Attributes& attributes, const std::string& prefix,
                                                    std::size_t targets);
/// Reads the tensors of TreeEnsemble.
base::Result<std::unique_ptr<Forest>> forestOfTensors(const Attributes& attributes);

/// Whether a feature goes on to the child for true.
bool goesTrue(const Forest& forest, const TreeSplit& split, double x);

/// The scores of one row and which of them any leaf has given.
struct RowScores {
    std::vector<double> score;
    std::vector<char> given;
};

/// Of the features of one row, without base values and transform.
RowScores evaluateForest(const Forest& forest, const double* x);

}  // namespace sonde::ops
