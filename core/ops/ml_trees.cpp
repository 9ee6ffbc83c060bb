// Ensembles of decision trees, domain ai.onnx.ml. https://onnx.ai/onnx/operators/ (TreeEnsembleClassifier,
// TreeEnsembleRegressor, TreeEnsemble). Every form becomes one Forest (support/forest.h), made once per plan.

#include <algorithm>
#include <cmath>
#include <set>

#include "core/ops/dependence/region.h"
#include "core/ops/dependence/scores.h"
#include "core/ops/support/forest.h"
#include "core/ops/support/ml_row.h"
#include "core/ops/support/scores.h"
#include "core/ops/support/shapes.h"

namespace sonde::ops {

namespace {

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
            finish(r, evaluateForest(forest, x + static_cast<std::int64_t>(r) * table.columns));
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
    for (const std::vector<LeafWeight>& leaf : made->forest->leaves) {
        for (const LeafWeight& weight : leaf) {
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
    if (targets < 1 || targets > kMaxTreeTargets) return opError(std::to_string(targets) + " targets");
    const std::string aggregate = attributes.getString("aggregate_function", "SUM");
    constexpr std::string_view kNames[] = {"AVERAGE", "SUM", "MIN", "MAX"};
    const auto found = std::find(std::begin(kNames), std::end(kNames), aggregate);
    if (found == std::end(kNames)) return opError("aggregate_function '" + aggregate + "' is not supported");
    SONDE_ASSIGN(std::unique_ptr<Forest> forest,
                 forestOfLists(attributes, "target_", static_cast<std::size_t>(targets)));
    forest->aggregate = static_cast<TreeAggregate>(found - std::begin(kNames));
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

// ---- what elements are made of

/// The leaves that a row ends in, and the features that were looked at on the way there.
struct Descent {
    std::vector<std::size_t> leaves;
    std::set<std::int64_t> features;

    static Descent of(const Forest& forest, const double* x) {
        Descent made;
        for (std::int64_t at : forest.roots) {
            while (at >= 0) {
                const TreeSplit& split = forest.splits[static_cast<std::size_t>(at)];
                made.features.insert(split.feature);
                at = goesTrue(forest, split, x[split.feature]) ? split.onTrue : split.onFalse;
            }
            made.leaves.push_back(static_cast<std::size_t>(-1 - at));
        }
        return made;
    }
};

/// What the trees say of one row.
struct AskedForest {
    const Forest& forest;
    std::int64_t row = 0;
    Descent descent;
    RowScores scores;

    static base::Result<AskedForest> of(const ElementCall& call, const Forest& forest) {
        AskedForest made{forest, call.at.front(), {}, {}};
        SONDE_ASSIGN(const Tensor wide, dependence::featureRow(call, made.row).cast(DType::Float64));
        SONDE_ASSIGN(const Tensor x, wide.contiguous());
        if (x.numel() < forest.features) return opError("the row has too few features");
        const double* const features = x.numel() > 0 ? x.data<double>() : nullptr;
        made.descent = Descent::of(forest, features);
        made.scores = evaluateForest(forest, features);
        return made;
    }

    /// Features have no weight: they choose the leaves.
    void addFeatures(Dependence& dependence, const ElementCall& call) const {
        const Tensor& x = call.context.in("X");
        const std::uint32_t part = dependence.listPart("feature");
        for (const std::int64_t feature : descent.features) {
            dependence::addElement(dependence, part, call, call.context.position("X"),
                                   (x.rank() == 2 ? row * x.dim(1) : 0) + feature);
            dependence.terms.back().weight = 0;
        }
    }

    /// Adds what the leaves give a target, and a base value; gives the formula of the score.
    std::string addScore(Dependence& dependence, const ElementCall& call, std::size_t target, double base) const {
        const std::uint32_t part = dependence.listPart("leaf");
        const std::size_t first = dependence.terms.size();
        for (const std::size_t leaf : descent.leaves) {
            for (const LeafWeight& weight : forest.leaves[leaf]) {
                if (weight.target != target) continue;
                DependenceTerm term;
                term.part = part, term.value = weight.value;
                dependence.terms.push_back(term);
            }
        }
        const bool isMin = forest.aggregate == TreeAggregate::Min, isMax = forest.aggregate == TreeAggregate::Max;
        std::string formula = "sum(leaf)";
        if ((isMin || isMax) && dependence.terms.size() > first) {
            formula = isMin ? "min(leaf)" : "max(leaf)";
            dependence::weighChosen(dependence, part, isMax);
        } else if (forest.aggregate == TreeAggregate::Average && !forest.roots.empty()) {
            dependence.number("trees", static_cast<double>(forest.roots.size()));
            formula = "sum(leaf) / trees";
        }
        if (base != 0) dependence.number("base", base), formula += " + base";
        addFeatures(dependence, call);
        return formula;
    }

    double baseOf(std::size_t target) const { return forest.base.size() == forest.targets ? forest.base[target] : 0; }
    std::vector<double> allScores() const {
        std::vector<double> all = scores.score;
        for (std::size_t k = 0; k < all.size(); ++k) all[k] += baseOf(k);
        return all;
    }
};

base::Result<Dependence> regressedTerms(const ElementCall& call, const Forest& forest) {
    SONDE_ASSIGN(const AskedForest asked, AskedForest::of(call, forest));
    const auto target = static_cast<std::size_t>(call.at.back());
    Dependence made;
    const std::string score = asked.addScore(made, call, target, asked.baseOf(target));
    dependence::transformScore(made, score, asked.allScores(), forest.transform);
    return made;
}

base::Result<Dependence> treeRegressorTerms(const ElementCall& call) {
    SONDE_ASSIGN(const auto forest, makeRegressor(call.context.attributes()));
    return regressedTerms(call, *forest);
}
base::Result<Dependence> treeEnsembleTerms(const ElementCall& call) {
    SONDE_ASSIGN(const auto forest, forestOfTensors(call.context.attributes()));
    return regressedTerms(call, *forest);
}

base::Result<Dependence> treeClassifierTerms(const ElementCall& call) {
    SONDE_ASSIGN(const auto model, makeClassifier(call.context.attributes()));
    const Forest& forest = *model->forest;
    SONDE_ASSIGN(const AskedForest asked, AskedForest::of(call, forest));
    const OneScore& one = model->one;
    const bool isLabel = call.output == 0;
    Dependence made;
    if (one.present) {
        const std::string score = asked.addScore(made, call, one.target, forest.base.empty() ? 0 : forest.base.front());
        if (isLabel) {
            SONDE_TRY(dependence::chooseOfTwo(made, model->labels, score + (one.probability ? " > 0.5" : " > 0")));
        } else if (one.target == 0) {
            dependence::transformOneOfTwo(made, score, call.at.back(),
                                          one.probability ? SecondScore::Complement : SecondScore::Opposite,
                                          forest.transform);
        } else {
            // The second class has the score, the first one 0.
            const double own = asked.scores.score[1] + (forest.base.empty() ? 0 : forest.base.front());
            const double both[] = {0, own};
            dependence::transformScore(made, call.at.back() == 0 ? "0" : score, both, forest.transform);
        }
        return made;
    }
    if (isLabel) {
        std::vector<char> given = asked.scores.given;
        if (forest.base.size() == forest.targets) std::ranges::fill(given, 1);
        SONDE_TRY(dependence::chooseLabel(made, model->labels, asked.allScores(), given));
        asked.addFeatures(made, call);
        return made;
    }
    const auto target = static_cast<std::size_t>(call.at.back());
    const std::string score = asked.addScore(made, call, target, asked.baseOf(target));
    dependence::transformScore(made, score, asked.allScores(), forest.transform);
    return made;
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
    explain("ai.onnx.ml", "TreeEnsembleRegressor", treeRegressorTerms);
    explain("ai.onnx.ml", "TreeEnsemble", treeEnsembleTerms);
    explain("ai.onnx.ml", "TreeEnsembleClassifier", treeClassifierTerms);
}

}  // namespace sonde::ops
