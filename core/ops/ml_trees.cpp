// Ensembles of decision trees, domain ai.onnx.ml. https://onnx.ai/onnx/operators/ (TreeEnsembleClassifier,
// TreeEnsembleRegressor, TreeEnsemble). Every form becomes one Forest, made once per plan.

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "core/ops/support/ml_row.h"
#include "core/ops/support/scores.h"
#include "core/ops/support/shapes.h"

namespace sonde::ops {

namespace {

enum class Mode : std::uint8_t { LessOrEqual, Less, GreaterOrEqual, Greater, Equal, NotEqual, Member };
enum class Aggregate { Average, Sum, Min, Max };

/// A node that is no leaf. A child at 0 or above is a split, below 0 the leaf −1 − child.
struct Split {
    double threshold = 0;
    std::int64_t feature = 0;
    Mode mode = Mode::LessOrEqual;
    bool missingIsTrue = false;
    std::int64_t onTrue = 0;
    std::int64_t onFalse = 0;
    std::size_t firstMember = 0, members = 0;
};

/// What a leaf adds to one target.
struct Weight {
    std::size_t target = 0;
    double value = 0;
};

struct Forest : PreparedState {
    std::vector<Split> splits;
    std::vector<double> memberValues;
    std::vector<std::vector<Weight>> leaves;
    std::vector<std::int64_t> roots;  ///< as a split's child
    std::vector<double> base;         ///< empty or one for each target
    std::size_t targets = 1;
    std::int64_t features = 0;  ///< needed at least
    Aggregate aggregate = Aggregate::Sum;
    PostTransform transform = PostTransform::None;
};

constexpr std::int64_t kMaxTargets = 1 << 20;

std::int64_t leafChild(std::size_t leaf) { return -1 - static_cast<std::int64_t>(leaf); }

bool goesTrue(const Forest& forest, const Split& split, double x) {
    if (std::isnan(x) && split.missingIsTrue) return true;
    switch (split.mode) {
        case Mode::LessOrEqual: return x <= split.threshold;
        case Mode::Less: return x < split.threshold;
        case Mode::GreaterOrEqual: return x >= split.threshold;
        case Mode::Greater: return x > split.threshold;
        case Mode::Equal: return x == split.threshold;
        case Mode::NotEqual: return x != split.threshold;
        case Mode::Member: {
            const auto begin = forest.memberValues.begin() + static_cast<std::ptrdiff_t>(split.firstMember);
            return std::find(begin, begin + static_cast<std::ptrdiff_t>(split.members), x) !=
                   begin + static_cast<std::ptrdiff_t>(split.members);
        }
    }
    return false;
}

/// Children exist, and no way down meets a split twice: evaluation ends. Gives the number of splits that roots lead to.
base::Result<std::size_t> checkForest(Forest& forest) {
    const auto splits = static_cast<std::int64_t>(forest.splits.size());
    const auto leaves = static_cast<std::int64_t>(forest.leaves.size());
    for (const Split& split : forest.splits) {
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
    for (const std::vector<Weight>& leaf : forest.leaves) {
        for (const Weight& weight : leaf) {
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

base::Result<Mode> modeNamed(const std::string& name) {
    constexpr std::string_view kNames[] = {"BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE",
                                           "BRANCH_GT",  "BRANCH_EQ", "BRANCH_NEQ"};
    const auto found = std::find(std::begin(kNames), std::end(kNames), name);
    if (found == std::end(kNames)) return opError("the mode '" + name + "' of a node is not supported");
    return static_cast<Mode>(found - std::begin(kNames));
}

using NodeKey = std::pair<std::int64_t, std::int64_t>;  ///< tree, node

/// Reads the lists nodes_*; the weights' prefix is "class_" or "target_".
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
    for (std::size_t size :
         {treeIds.size(), features.size(), onTrue.size(), onFalse.size(), modes.size(), values.size()}) {
        if (size != count)
            return opError("has lists of " + std::to_string(count) + " and of " + std::to_string(size) +
                           " entries about its nodes");
    }
    if (!missing.empty() && missing.size() != count)
        return opError("has " + std::to_string(missing.size()) + " entries for missing values of " +
                       std::to_string(count) + " nodes");
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
        Split split{values[i], features[i], Mode::LessOrEqual, !missing.empty() && missing[i] != 0, 0, 0, 0, 0};
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

// ---- TreeEnsemble of version 5: lists of splits and of leaves

base::Result<std::vector<double>> realTensor(const Attributes& attributes, const std::string& name) {
    const auto tensor = attributes.getTensor(name);
    if (!tensor) return std::vector<double>();
    SONDE_ASSIGN(const Tensor wide, tensor->cast(DType::Float64));
    return std::vector<double>(wide.span<double>().begin(), wide.span<double>().end());
}

base::Result<std::unique_ptr<Forest>> forestOfTensors(const Attributes& attributes) {
    auto forest = std::make_unique<Forest>();
    const std::int64_t aggregate = attributes.getInt("aggregate_function", 1),
                       transform = attributes.getInt("post_transform", 0);
    const std::int64_t targets = attributes.getInt("n_targets", 1);
    if (aggregate < 0 || aggregate > 3)
        return opError("aggregate_function " + std::to_string(aggregate) + " is not supported");
    if (transform < 0 || transform > 4)
        return opError("post_transform " + std::to_string(transform) + " is not supported");
    if (targets < 1 || targets > kMaxTargets) return opError(std::to_string(targets) + " targets");
    forest->aggregate = static_cast<Aggregate>(aggregate);
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
    for (std::size_t size :
         {modes.size(), features.size(), onTrue.size(), onFalse.size(), trueLeaves.size(), falseLeaves.size()}) {
        if (size != count)
            return opError("has lists of " + std::to_string(count) + " and of " + std::to_string(size) +
                           " entries about its nodes");
    }
    if (!missing.empty() && missing.size() != count)
        return opError("has " + std::to_string(missing.size()) + " entries for missing values of " +
                       std::to_string(count) + " nodes");
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
        Split split{splits[i],
                    features[i],
                    static_cast<Mode>(static_cast<int>(modes[i])),
                    !missing.empty() && missing[i] != 0,
                    trueLeaves[i] ? -1 - onTrue[i] : onTrue[i],
                    falseLeaves[i] ? -1 - onFalse[i] : onFalse[i],
                    member,
                    0};
        if (split.mode == Mode::Member) {
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

// ---- evaluation

/// The scores of one row and which of them any leaf has given.
struct RowScores {
    std::vector<double> score;
    std::vector<char> given;
};

RowScores evaluate(const Forest& forest, const double* x) {
    RowScores row{std::vector<double>(forest.targets), std::vector<char>(forest.targets)};
    for (std::int64_t at : forest.roots) {
        while (at >= 0) {
            const Split& split = forest.splits[static_cast<std::size_t>(at)];
            at = goesTrue(forest, split, x[split.feature]) ? split.onTrue : split.onFalse;
        }
        for (const Weight& weight : forest.leaves[static_cast<std::size_t>(-1 - at)]) {
            double& score = row.score[weight.target];
            char& given = row.given[weight.target];
            if (forest.aggregate == Aggregate::Min) score = given ? std::min(score, weight.value) : weight.value;
            else if (forest.aggregate == Aggregate::Max) score = given ? std::max(score, weight.value) : weight.value;
            else score += weight.value;
            given = 1;
        }
    }
    if (forest.aggregate == Aggregate::Average && !forest.roots.empty()) {
        for (double& score : row.score) score /= static_cast<double>(forest.roots.size());
    }
    return row;
}

/// Calls finish(row number, scores) for every row of the features, in parallel.
template <typename Finish>
base::Result<std::int64_t> forEachRow(KernelContext& context, const Forest& forest, Finish finish) {
    SONDE_ASSIGN(const FeatureTable table, featureTable(context.in("X")));
    if (table.columns < forest.features)
        return opError("needs " + std::to_string(forest.features) + " features, but has " +
                       std::to_string(table.columns));
    SONDE_ASSIGN(const Tensor wide, context.in("X").cast(DType::Float64));
    const double* x = wide.numel() > 0 ? wide.data<double>() : nullptr;
    context.pool().parallelFor(static_cast<std::size_t>(table.rows), 16, [&](std::size_t begin, std::size_t end) {
        for (std::size_t r = begin; r < end && !context.cancelled(); ++r)
            finish(r, evaluate(forest, x + static_cast<std::int64_t>(r) * table.columns));
    });
    return table.rows;
}

base::Result<void> treeRegress(KernelContext& context, const Forest& forest, DType dtype) {
    if (!forest.base.empty() && forest.base.size() != 1 && forest.base.size() != forest.targets) {
        return opError(std::to_string(forest.base.size()) + " base values for " + std::to_string(forest.targets) +
                       " targets");
    }
    std::vector<std::vector<double>> rows(context.in("X").rank() == 2 ? static_cast<std::size_t>(context.in("X").dim(0))
                                                                      : 1);
    SONDE_TRY(forEachRow(context, forest, [&](std::size_t r, RowScores scores) {
        if (forest.base.size() == forest.targets) {
            for (std::size_t k = 0; k < forest.targets; ++k) scores.score[k] += forest.base[k];
        }
        transformScores(scores.score, forest.transform);
        rows[r] = std::move(scores.score);
    }));
    return setScores(context, 0, dtype, rows, forest.targets);
}

/// One row of a classifier: the class and the scores.
struct Decision {
    std::size_t label = 0;
    std::vector<double> scores;
};

/// The largest score that a leaf or a base value gives.
Decision decideMany(const Forest& forest, RowScores row) {
    if (forest.base.size() == row.score.size()) {
        for (std::size_t k = 0; k < row.score.size(); ++k) {
            row.score[k] += forest.base[k];
            row.given[k] = 1;
        }
    }
    Decision decision;
    bool any = false;
    for (std::size_t k = 0; k < row.score.size(); ++k) {
        if (!row.given[k] || (any && row.score[k] <= row.score[decision.label])) continue;
        decision.label = k;
        any = true;
    }
    transformScores(row.score, forest.transform);
    decision.scores = std::move(row.score);
    return decision;
}

/// Two classes, and the trees speak about one of them only, often the first whichever they mean: the score is the
/// second class's. If no weight is negative it is a probability.
struct OneScore {
    bool present = false;
    std::size_t target = 0;
    bool probability = false;
};

Decision decideByOne(const Forest& forest, const OneScore& one, const RowScores& row) {
    const double score = row.score[one.target] + (forest.base.empty() ? 0 : forest.base[0]);
    Decision decision{score > (one.probability ? 0.5 : 0.0) ? 1U : 0U, {}};
    if (one.target == 1) {
        decision.scores = {0, score};
        transformScores(decision.scores, forest.transform);
    } else {
        decision.scores =
            twoScores(score, one.probability ? SecondScore::Complement : SecondScore::Opposite, forest.transform);
    }
    return decision;
}

struct Classifier : PreparedState {
    std::unique_ptr<Forest> forest;
    ClassLabels labels;
    OneScore one;
};

base::Result<std::unique_ptr<Classifier>> makeClassifier(const Attributes& attributes) {
    auto made = std::make_unique<Classifier>();
    SONDE_ASSIGN(made->labels, ClassLabels::of(attributes, "classlabels_int64s"));
    SONDE_ASSIGN(made->forest, forestOfLists(attributes, "class_", made->labels.size()));
    std::set<std::size_t> scored;
    made->one.probability = true;
    for (const std::vector<Weight>& leaf : made->forest->leaves) {
        for (const Weight& weight : leaf) {
            scored.insert(weight.target);
            if (weight.value < 0) made->one.probability = false;
        }
    }
    const std::size_t bases = made->forest->base.size();
    if (bases > 1 && bases != made->labels.size())
        return opError(std::to_string(bases) + " base values for " + std::to_string(made->labels.size()) + " classes");
    if (made->labels.size() == 2 && scored.size() == 1 && bases < 2) {
        made->one.present = true;
        made->one.target = *scored.begin();
    }
    return made;
}

base::Result<void> treeClassify(KernelContext& context) {
    std::unique_ptr<Classifier> own;
    if (!context.prepared<Classifier>()) {
        SONDE_ASSIGN(own, makeClassifier(context.attributes()));
    }
    const Classifier& model = own ? *own : *context.prepared<Classifier>();
    const std::size_t rows = context.in("X").rank() == 2 ? static_cast<std::size_t>(context.in("X").dim(0)) : 1;
    std::vector<std::size_t> picks(rows);
    std::vector<std::vector<double>> scores(rows);
    SONDE_TRY(forEachRow(context, *model.forest, [&](std::size_t r, RowScores row) {
        Decision decision =
            model.one.present ? decideByOne(*model.forest, model.one, row) : decideMany(*model.forest, std::move(row));
        decision.scores.resize(model.labels.size());
        picks[r] = decision.label;
        scores[r] = std::move(decision.scores);
    }));
    model.labels.set(context, picks);
    return setScores(context, 1, DType::Float32, scores, model.labels.size());
}

base::Result<std::unique_ptr<Forest>> makeRegressor(const Attributes& attributes) {
    const std::int64_t targets = attributes.getInt("n_targets", 1);
    if (targets < 1 || targets > kMaxTargets) return opError(std::to_string(targets) + " targets");
    const std::string aggregate = attributes.getString("aggregate_function", "SUM");
    constexpr std::string_view kNames[] = {"AVERAGE", "SUM", "MIN", "MAX"};
    const auto found = std::find(std::begin(kNames), std::end(kNames), aggregate);
    if (found == std::end(kNames)) return opError("aggregate_function '" + aggregate + "' is not supported");
    SONDE_ASSIGN(std::unique_ptr<Forest> forest,
                 forestOfLists(attributes, "target_", static_cast<std::size_t>(targets)));
    forest->aggregate = static_cast<Aggregate>(found - std::begin(kNames));
    return forest;
}

/// The forest that the plan has made, or one for this call.
template <typename Make>
base::Result<void> regressWith(KernelContext& context, Make make, DType dtype) {
    if (const Forest* forest = context.prepared<Forest>()) return treeRegress(context, *forest, dtype);
    SONDE_ASSIGN(const std::unique_ptr<Forest> forest, make(context.attributes()));
    return treeRegress(context, *forest, dtype);
}

template <typename Make>
auto preparing(Make make) {
    return [make](const Constants&, const Attributes& attributes,
                  RunEnvironment&) -> base::Result<std::unique_ptr<PreparedState>> {
        SONDE_ASSIGN(auto made, make(attributes));
        return std::unique_ptr<PreparedState>(std::move(made));
    };
}

base::Result<void> inferTreeRegressor(InferContext& context) {
    setScoreType(context, 0, context.attributes().getInt("n_targets", 1));
    return {};
}

base::Result<void> inferEnsemble(InferContext& context) {
    const tensor::Dim targets{context.attributes().getInt("n_targets", 1), {}};
    context.set(TypeInfo::tensor(context.in("X").dtype, Dims{rowsOf(context), targets}));
    return {};
}

base::Result<void> inferTreeClassifier(InferContext& context) {
    setScoreType(context, 1, setLabelType(context, "classlabels_int64s"));
    return {};
}

}  // namespace

void define_ml_trees(Registry& registry) {
    const auto row = [](std::string_view name, int since, std::string_view summary, DTypeSet dtypes) {
        Row made = mlRow(name, summary, since);
        made.in("X", dtypes).out("Y");
        return made;
    };
    const auto lists = [&](std::string_view name, int since, std::string_view summary) {
        Row made = row(name, since, summary, kFeatures);
        for (std::string_view list : {"nodes_treeids", "nodes_nodeids", "nodes_featureids", "nodes_truenodeids",
                                      "nodes_falsenodeids", "nodes_missing_value_tracks_true"})
            made.attrInts(list);
        made.attr("nodes_modes", AttributeKind::Strings)
            .attr("base_values", AttributeKind::Floats)
            .attr("nodes_values", AttributeKind::Floats)
            .attr("nodes_hitrates", AttributeKind::Floats)
            .attrString("post_transform", "NONE");
        if (since < 3) return made;
        for (std::string_view tensor : {"base_values_as_tensor", "nodes_values_as_tensor", "nodes_hitrates_as_tensor"})
            made.attr(tensor, AttributeKind::Tensor);
        return made;
    };
    // Version 5 calls the two older forms deprecated in favour of TreeEnsemble, but files of it still have them.
    for (int since : {1, 3}) {
        Row classifier = lists("TreeEnsembleClassifier", since,
                               "The class that an ensemble of decision trees votes for, and all scores");
        classifier.out("Z")
            .attrInts("class_treeids")
            .attrInts("class_nodeids")
            .attrInts("class_ids")
            .attr("class_weights", AttributeKind::Floats)
            .attr("classlabels_strings", AttributeKind::Strings)
            .attrInts("classlabels_int64s");
        Row regressor = lists("TreeEnsembleRegressor", since, "Sum, mean or extreme of the results of decision trees");
        regressor.attrInts("target_treeids")
            .attrInts("target_nodeids")
            .attrInts("target_ids")
            .attr("target_weights", AttributeKind::Floats)
            .attrInt("n_targets", 1)
            .attrString("aggregate_function", "SUM");
        if (since == 3) classifier.attr("class_weights_as_tensor", AttributeKind::Tensor);
        if (since == 3) regressor.attr("target_weights_as_tensor", AttributeKind::Tensor);
        registry.add(classifier.runs(treeClassify, inferTreeClassifier).prepares(preparing(makeClassifier)));
        registry.add(
            regressor
                .runs([](KernelContext& context) { return regressWith(context, makeRegressor, DType::Float32); },
                      inferTreeRegressor)
                .prepares(preparing(makeRegressor)));
    }
    Row ensemble =
        row("TreeEnsemble", 5, "Sum, mean or extreme of the results of decision trees, with sets as conditions",
            bit(DType::Float16) | bit(DType::Float32) | bit(DType::Float64));
    for (std::string_view list :
         {"leaf_targetids", "nodes_falseleafs", "nodes_falsenodeids", "nodes_featureids",
          "nodes_missing_value_tracks_true", "nodes_trueleafs", "nodes_truenodeids", "tree_roots"})
        ensemble.attrInts(list);
    for (std::string_view tensor :
         {"leaf_weights", "membership_values", "nodes_hitrates", "nodes_modes", "nodes_splits"})
        ensemble.attr(tensor, AttributeKind::Tensor);
    ensemble.attrInt("aggregate_function", 1).attrInt("n_targets", 1).attrInt("post_transform", 0);
    registry.add(
        ensemble
            .runs([](KernelContext& context) { return regressWith(context, forestOfTensors, context.in("X").dtype()); },
                  inferEnsemble)
            .prepares(preparing(forestOfTensors)));
}

}  // namespace sonde::ops
