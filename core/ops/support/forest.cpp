// Decision trees as the two forms of ai.onnx.ml write them. https://onnx.ai/onnx/operators/ (TreeEnsembleClassifier,
// TreeEnsembleRegressor, TreeEnsemble).

#include "core/ops/support/forest.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <map>
#include <set>

#include "core/ops/support/shapes.h"

namespace sonde::ops {

namespace {

/// Of `count` nodes each list has an entry for every one; that about missing values may be empty.
base::Result<void> checkNodeLists(std::size_t count, std::size_t missing, std::initializer_list<std::size_t> lists) {
    for (const std::size_t size : lists)
        if (size != count)
            return opError("has lists of " + std::to_string(count) + " and of " + std::to_string(size) +
                           " entries about its nodes");
    if (missing != 0 && missing != count)
        return opError("has " + std::to_string(missing) + " entries for missing values of " + std::to_string(count) +
                       " nodes");
    return {};
}

std::int64_t leafChild(std::size_t leaf) { return -1 - static_cast<std::int64_t>(leaf); }

}  // namespace

bool goesTrue(const Forest& forest, const TreeSplit& split, double x) {
    if (std::isnan(x) && split.missingIsTrue) return true;
    switch (split.mode) {
        case TreeMode::LessOrEqual: return x <= split.threshold;
        case TreeMode::Less: return x < split.threshold;
        case TreeMode::GreaterOrEqual: return x >= split.threshold;
        case TreeMode::Greater: return x > split.threshold;
        case TreeMode::Equal: return x == split.threshold;
        case TreeMode::NotEqual: return x != split.threshold;
        case TreeMode::Member: {
            const auto begin = forest.memberValues.begin() + static_cast<std::ptrdiff_t>(split.firstMember);
            return std::find(begin, begin + static_cast<std::ptrdiff_t>(split.members), x) !=
                   begin + static_cast<std::ptrdiff_t>(split.members);
        }
    }
    return false;
}

namespace {

/// Children exist, and no way down meets a split twice: evaluation ends. Gives the number of splits that roots lead to.
base::Result<std::size_t> checkForest(Forest& forest) {
    const auto splits = static_cast<std::int64_t>(forest.splits.size());
    const auto leaves = static_cast<std::int64_t>(forest.leaves.size());
    for (const TreeSplit& split : forest.splits) {
        for (std::int64_t child : {split.onTrue, split.onFalse}) {
            if (child >= splits || -1 - child >= leaves) return opError("a tree refers to a node that does not exist");
        }
        if (split.feature < 0 || split.feature > (std::int64_t{1} << 40))
            return opError("there is no feature " + std::to_string(split.feature));
        forest.features = std::max(forest.features, split.feature + 1);
    }
    enum : char { Fresh, Open, Done };
    std::vector<char> state(forest.splits.size(), Fresh);
    std::vector<std::int64_t> stack;
    for (std::int64_t root : forest.roots) {
        if (root >= splits || -1 - root >= leaves) return opError("a tree refers to a node that does not exist");
        if (root >= 0) stack.push_back(root);
        while (!stack.empty()) {
            const auto at = static_cast<std::size_t>(stack.back());
            if (state[at] != Fresh) {
                state[at] = Done;
                stack.pop_back();
                continue;
            }
            state[at] = Open;
            for (std::int64_t child : {forest.splits[at].onTrue, forest.splits[at].onFalse}) {
                if (child < 0 || state[static_cast<std::size_t>(child)] == Done) continue;
                if (state[static_cast<std::size_t>(child)] == Open) return opError("the nodes of a tree form a cycle");
                stack.push_back(child);
            }
        }
    }
    for (const std::vector<LeafWeight>& leaf : forest.leaves) {
        for (const LeafWeight& weight : leaf) {
            if (weight.target >= forest.targets)
                return opError("a leaf has a weight for target " + std::to_string(weight.target) + " of " +
                               std::to_string(forest.targets));
        }
    }
    return static_cast<std::size_t>(std::count(state.begin(), state.end(), Done));
}

// ---- the older form: parallel lists of nodes, with tree and node numbers

/// A list of floats, or a tensor of the same name with "_as_tensor" (since version 3).
base::Result<std::vector<double>> realList(const Attributes& attributes, const std::string& name) {
    const auto tensor = attributes.getTensor(name + "_as_tensor");
    if (!tensor) return attributes.getFloats(name);
    if (attributes.has(name)) return opError(name + " is given twice");
    SONDE_ASSIGN(const Tensor wide, tensor->cast(DType::Float64));
    return std::vector<double>(wide.span<double>().begin(), wide.span<double>().end());
}

base::Result<TreeMode> modeNamed(const std::string& name) {
    constexpr std::string_view kNames[] = {"BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE",
                                           "BRANCH_GT",  "BRANCH_EQ", "BRANCH_NEQ"};
    const auto found = std::find(std::begin(kNames), std::end(kNames), name);
    if (found == std::end(kNames)) return opError("the mode '" + name + "' of a node is not supported");
    return static_cast<TreeMode>(found - std::begin(kNames));
}

using NodeKey = std::pair<std::int64_t, std::int64_t>;  ///< tree, node

}  // namespace

base::Result<std::unique_ptr<Forest>> forestOfLists(const Attributes& attributes, const std::string& prefix,
                                                    std::size_t targets) {
    auto forest = std::make_unique<Forest>();
    forest->targets = targets;
    SONDE_ASSIGN(forest->transform, postTransform(attributes));
    SONDE_ASSIGN(forest->base, realList(attributes, "base_values"));
    const auto treeIds = attributes.getInts("nodes_treeids"), nodeIds = attributes.getInts("nodes_nodeids");
    const auto features = attributes.getInts("nodes_featureids");
    const auto onTrue = attributes.getInts("nodes_truenodeids"), onFalse = attributes.getInts("nodes_falsenodeids");
    const auto missing = attributes.getInts("nodes_missing_value_tracks_true");
    const auto modes = attributes.getStrings("nodes_modes");
    SONDE_ASSIGN(const std::vector<double> values, realList(attributes, "nodes_values"));
    const std::size_t count = nodeIds.size();
    if (count == 0) return opError("has no nodes");
    SONDE_TRY(
        checkNodeLists(count, missing.size(),
                       {treeIds.size(), features.size(), onTrue.size(), onFalse.size(), modes.size(), values.size()}));
    std::map<NodeKey, std::int64_t> places;
    std::vector<std::size_t> splitNodes;
    for (std::size_t i = 0; i < count; ++i) {
        const bool isLeaf = modes[i] == "LEAF";
        const std::int64_t place =
            isLeaf ? leafChild(forest->leaves.size()) : static_cast<std::int64_t>(splitNodes.size());
        if (!places.emplace(NodeKey{treeIds[i], nodeIds[i]}, place).second) {
            return opError("has two nodes " + std::to_string(nodeIds[i]) + " in tree " + std::to_string(treeIds[i]));
        }
        if (isLeaf) forest->leaves.emplace_back();
        else splitNodes.push_back(i);
    }
    std::set<NodeKey> children;
    for (std::size_t i : splitNodes) {
        TreeSplit split{values[i], features[i], TreeMode::LessOrEqual, !missing.empty() && missing[i] != 0, 0, 0, 0, 0};
        SONDE_ASSIGN(split.mode, modeNamed(modes[i]));
        for (auto [id, child] : {std::pair{onTrue[i], &split.onTrue}, std::pair{onFalse[i], &split.onFalse}}) {
            const auto found = places.find({treeIds[i], id});
            if (found == places.end())
                return opError("node " + std::to_string(nodeIds[i]) + " of tree " + std::to_string(treeIds[i]) +
                               " refers to node " + std::to_string(id) + ", which does not exist");
            *child = found->second;
            children.insert(found->first);
        }
        forest->splits.push_back(split);
    }
    std::set<std::int64_t> rooted;
    for (std::size_t i = 0; i < count; ++i) {
        const NodeKey key{treeIds[i], nodeIds[i]};
        if (!children.contains(key) && rooted.insert(treeIds[i]).second) forest->roots.push_back(places[key]);
    }
    if (std::any_of(treeIds.begin(), treeIds.end(), [&](std::int64_t tree) { return !rooted.contains(tree); }))
        return opError("the nodes of a tree form a cycle");
    const auto weightTrees = attributes.getInts(prefix + "treeids"),
               weightNodes = attributes.getInts(prefix + "nodeids"), ids = attributes.getInts(prefix + "ids");
    SONDE_ASSIGN(const std::vector<double> weights, realList(attributes, prefix + "weights"));
    if (weightTrees.size() != ids.size() || weightNodes.size() != ids.size() || weights.size() != ids.size())
        return opError("has lists of different lengths about its leaves");
    for (std::size_t i = 0; i < ids.size(); ++i) {
        const auto found = places.find({weightTrees[i], weightNodes[i]});
        if (found == places.end())
            return opError("has a weight for node " + std::to_string(weightNodes[i]) + " of tree " +
                           std::to_string(weightTrees[i]) + ", which does not exist");
        // Some writers give inner nodes weights too; no row ends there.
        if (found->second >= 0) continue;
        if (ids[i] < 0) return opError("a leaf has a weight for target " + std::to_string(ids[i]));
        forest->leaves[static_cast<std::size_t>(-1 - found->second)].push_back(
            {static_cast<std::size_t>(ids[i]), weights[i]});
    }
    SONDE_ASSIGN(const std::size_t reached, checkForest(*forest));
    if (reached < forest->splits.size()) return opError("some nodes of a tree form a cycle or belong to no tree");
    return forest;
}

namespace {

// ---- TreeEnsemble of version 5: lists of splits and of leaves

base::Result<std::vector<double>> realTensor(const Attributes& attributes, const std::string& name) {
    const auto tensor = attributes.getTensor(name);
    if (!tensor) return std::vector<double>();
    SONDE_ASSIGN(const Tensor wide, tensor->cast(DType::Float64));
    return std::vector<double>(wide.span<double>().begin(), wide.span<double>().end());
}

}  // namespace

base::Result<std::unique_ptr<Forest>> forestOfTensors(const Attributes& attributes) {
    auto forest = std::make_unique<Forest>();
    const std::int64_t aggregate = attributes.getInt("aggregate_function", 1),
                       transform = attributes.getInt("post_transform", 0);
    const std::int64_t targets = attributes.getInt("n_targets", 1);
    if (aggregate < 0 || aggregate > 3)
        return opError("aggregate_function " + std::to_string(aggregate) + " is not supported");
    if (transform < 0 || transform > 4)
        return opError("post_transform " + std::to_string(transform) + " is not supported");
    if (targets < 1 || targets > kMaxTreeTargets) return opError(std::to_string(targets) + " targets");
    forest->aggregate = static_cast<TreeAggregate>(aggregate);
    forest->transform = static_cast<PostTransform>(transform);
    forest->targets = static_cast<std::size_t>(targets);
    SONDE_ASSIGN(const std::vector<double> splits, realTensor(attributes, "nodes_splits"));
    SONDE_ASSIGN(const std::vector<double> modes, realTensor(attributes, "nodes_modes"));
    SONDE_ASSIGN(const std::vector<double> members, realTensor(attributes, "membership_values"));
    SONDE_ASSIGN(const std::vector<double> weights, realTensor(attributes, "leaf_weights"));
    const auto features = attributes.getInts("nodes_featureids");
    const auto onTrue = attributes.getInts("nodes_truenodeids"), onFalse = attributes.getInts("nodes_falsenodeids");
    const auto trueLeaves = attributes.getInts("nodes_trueleafs"), falseLeaves = attributes.getInts("nodes_falseleafs");
    const auto missing = attributes.getInts("nodes_missing_value_tracks_true");
    const auto ids = attributes.getInts("leaf_targetids");
    const std::size_t count = splits.size();
    SONDE_TRY(checkNodeLists(
        count, missing.size(),
        {modes.size(), features.size(), onTrue.size(), onFalse.size(), trueLeaves.size(), falseLeaves.size()}));
    if (ids.size() != weights.size())
        return opError("has " + std::to_string(weights.size()) + " weights for " + std::to_string(ids.size()) +
                       " leaves");
    for (std::size_t i = 0; i < ids.size(); ++i) {
        if (ids[i] < 0) return opError("a leaf has a weight for target " + std::to_string(ids[i]));
        forest->leaves.push_back({{static_cast<std::size_t>(ids[i]), weights[i]}});
    }
    forest->memberValues = members;
    std::size_t member = 0;
    for (std::size_t i = 0; i < count; ++i) {
        if (modes[i] < 0 || modes[i] > 6)
            return opError("the mode " + std::to_string(static_cast<int>(modes[i])) + " of a node is not supported");
        if (onTrue[i] < 0 || onFalse[i] < 0) return opError("a tree refers to a node that does not exist");
        TreeSplit split{splits[i],
                        features[i],
                        static_cast<TreeMode>(static_cast<int>(modes[i])),
                        !missing.empty() && missing[i] != 0,
                        trueLeaves[i] ? -1 - onTrue[i] : onTrue[i],
                        falseLeaves[i] ? -1 - onFalse[i] : onFalse[i],
                        member,
                        0};
        if (split.mode == TreeMode::Member) {
            // The sets of these nodes follow each other, each closed by a NaN.
            while (member < members.size() && !std::isnan(members[member])) ++member;
            if (member == members.size()) return opError("membership_values ends within a set");
            split.members = member++ - split.firstMember;
        }
        forest->splits.push_back(split);
    }
    forest->roots = attributes.getInts("tree_roots");
    if (std::any_of(forest->roots.begin(), forest->roots.end(), [](std::int64_t root) { return root < 0; }))
        return opError("a tree refers to a node that does not exist");
    SONDE_TRY(checkForest(*forest));
    return forest;
}

RowScores evaluateForest(const Forest& forest, const double* x) {
    RowScores row{std::vector<double>(forest.targets), std::vector<char>(forest.targets)};
    for (std::int64_t at : forest.roots) {
        while (at >= 0) {
            const TreeSplit& split = forest.splits[static_cast<std::size_t>(at)];
            at = goesTrue(forest, split, x[split.feature]) ? split.onTrue : split.onFalse;
        }
        for (const LeafWeight& weight : forest.leaves[static_cast<std::size_t>(-1 - at)]) {
            double& score = row.score[weight.target];
            char& given = row.given[weight.target];
            if (forest.aggregate == TreeAggregate::Min) score = given ? std::min(score, weight.value) : weight.value;
            else if (forest.aggregate == TreeAggregate::Max)
                score = given ? std::max(score, weight.value) : weight.value;
            else score += weight.value;
            given = 1;
        }
    }
    if (forest.aggregate == TreeAggregate::Average && !forest.roots.empty()) {
        for (double& score : row.score) score /= static_cast<double>(forest.roots.size());
    }
    return row;
}

}  // namespace sonde::ops
