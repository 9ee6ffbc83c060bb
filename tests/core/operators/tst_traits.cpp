// The traits of operators against what PyTorch and ONNX say of them.

#include <QtTest>

#include <set>
#include <string>

#include "core/operators/moved_elements.h"
#include "core/operators/names.h"
#include "core/operators/overlap.h"
#include "core/operators/same_tensor.h"
#include "core/operators/tables.h"
#include "core/operators/traits.h"

namespace tst_traits {

using namespace sonde::operators;

namespace {

QList<QByteArray> words(const char* text) { return QByteArray(text).simplified().split(' '); }

const Traits& aten(const QByteArray& name) {
    return traitsOf("aten", std::string_view(name.constData(), static_cast<std::size_t>(name.size())));
}

QByteArray listed(const QList<QByteArray>& names) { return names.join(' '); }

/// Those of `names` for which it does not hold.
template <class Test>
QByteArray others(const char* names, Test&& holds) {
    QList<QByteArray> result;
    for (const QByteArray& name : words(names)) {
        if (!holds(aten(name))) result << name;
    }
    return listed(result);
}

}  // namespace

class TestTraits : public QObject {
    Q_OBJECT

  private slots:
    void viewsOfPyTorch();
    void operatorsWithoutViews();
    void listsOfViews();
    void whatMayBeAView();
    void copiesOfViewsAreNone();
    void inPlaceOperators();
    void shapesChangedInPlace();
    void namesWithUnderscoresThatDoNotWrite();
    void unknownOperators();
    void randomOperatorsOfPyTorch();
    void randomOperatorsOfOnnx();
    void elementWiseOperators();
    void shapesAfterTheFirstInput();
    void spatialDimensions();
    void otherNames();
    void overloadsAndOutForms();
    void attributesThatAreOperators();
    void shapeQueries();
    void identitiesAtInference();
    void inputRoles();
    void elementsThatAreOnlyMoved();
    void eachNameStandsOnce();
    void inPlaceFormsOfPyTorch();
    void tensorsGivenBack();
    void writesThatRefuseOverlap();
};

/// The page "Tensor Views" of PyTorch 1.13, and `Tensor(a)` in native_functions.yaml.
void TestTraits::viewsOfPyTorch() {
    QCOMPARE(
        others(
            "as_strided detach diagonal expand expand_as movedim narrow permute select squeeze transpose t view view_as_real view_as_complex real imag "
            "unflatten unfold unsqueeze view_as adjoint mT mH matrix_H numpy_T swapaxes swapdims slice alias moveaxis linalg_diagonal _conj lift_fresh positive "
            "_reshape_alias broadcast_to",
            [](const Traits& traits) { return traits.memory.sharing == Sharing::View && !traits.memory.isList; }),
        QByteArray());
}

/// Their schemas have no alias annotation.
void TestTraits::operatorsWithoutViews() {
    QCOMPARE(
        others(
            "add mul relu matmul conv2d cat stack clone repeat flip roll gather index_select softmax sum mean zeros zeros_like arange where "
            "embedding layer_norm max_pool2d upsample_nearest2d masked_fill scatter tril pad size",
            [](const Traits& traits) {
                return traits.memory.sharing == Sharing::Fresh && !traits.memory.writes &&
                       traits.form == ViewForm::None;
            }),
        QByteArray());
}

/// `Tensor(a)[]` of native_functions.yaml.
void TestTraits::listsOfViews() {
    QCOMPARE(
        others("chunk split split_with_sizes tensor_split hsplit vsplit dsplit unbind",
               [](const Traits& traits) { return traits.memory.sharing == Sharing::View && traits.memory.isList; }),
        QByteArray());
}

/// "Tensor Views": reshape(), reshape_as() and flatten() return a view or a new tensor, contiguous() the tensor itself
/// if it is. torch.Tensor.to: self if dtype and device are those already. Dropout gives its input unless it trains.
void TestTraits::whatMayBeAView() {
    QCOMPARE(
        others("reshape reshape_as flatten ravel contiguous to type_as dropout feature_dropout resolve_conj meshgrid",
               [](const Traits& traits) { return traits.memory.sharing == Sharing::MaybeView; }),
        QByteArray());
}

/// native_functions.yaml: "view_copy" and its like have the views' arguments and no alias annotation.
void TestTraits::copiesOfViewsAreNone() {
    QCOMPARE(
        others(
            "view_copy expand_copy permute_copy select_copy slice_copy squeeze_copy unsqueeze_copy transpose_copy t_copy detach_copy alias_copy unbind_copy "
            "split_copy unfold_copy as_strided_copy diagonal_copy _conj_copy",
            [](const Traits& traits) { return !traits.mayBeView() && !traits.memory.isList && !traits.memory.writes; }),
        QByteArray());
    QCOMPARE(aten("permute_copy").opClass, OpClass::Transpose);
    QVERIFY(!aten("alias_copy").isIdentityAtInference());
}

/// `Tensor(a!) self` of native_functions.yaml.
void TestTraits::inPlaceOperators() {
    QCOMPARE(
        others(
            "add_ add_.Tensor sub_.Scalar mul_ div_ relu_ leaky_relu_ clamp_ copy_ fill_ zero_ index_put_ masked_fill_ scatter_ dropout_ normal_ uniform_ bernoulli_ "
            "random_ exponential_ __iand__ __ior__ addmm_ lerp_ absolute_ multiply_ true_divide_ conj_physical_ cumsum_",
            [](const Traits& traits) {
                return traits.isWrite() && traits.memory.sharing == Sharing::Written && traits.is(Trait::InPlace);
            }),
        QByteArray());
    QCOMPARE(aten("add_").opClass, OpClass::Add);
    QCOMPARE(aten("multiply_").opClass, OpClass::Mul);
}

/// `tags: inplace_view` of native_functions.yaml; set_ has other memory afterwards.
void TestTraits::shapesChangedInPlace() {
    QCOMPARE(others("as_strided_ detach_ resize_ squeeze_ swapaxes_ swapdims_ t_ transpose_ unsqueeze_ set_",
                    [](const Traits& traits) { return traits.memory.reforms; }),
             QByteArray());
    QCOMPARE(aten("transpose_").form, ViewForm::Transpose);
    QVERIFY(!aten("transpose_").isWrite() && !aten("resize_").isWrite());
}

/// requires_grad_ changes no element; `__and__` is the operator &, `__iand__` writes.
void TestTraits::namesWithUnderscoresThatDoNotWrite() {
    QVERIFY(!isInPlaceName("requires_grad_") && !aten("requires_grad_").memory.writes);
    QVERIFY(!isInPlaceName("__and__") && !aten("__and__").memory.writes);
    QVERIFY(isInPlaceName("__iand__.Tensor") && isInPlaceName("__setitem__"));
    QVERIFY(!isInPlaceName("_") && !traitsOf("prim", "not_").memory.writes);
}

void TestTraits::unknownOperators() {
    QCOMPARE(traitsOf("aten", "frobnicate").opClass, OpClass::Other);
    QVERIFY(!traitsOf("aten", "frobnicate").memory.writes);
    // A name of PyTorch that ends so writes, whatever it does.
    QVERIFY(traitsOf("aten", "frobnicate_.out").memory.writes);
    QVERIFY(!traitsOf("torchvision", "nms_").memory.writes && !traitsOf("", "add").is(Trait::ElementWise));
    QCOMPARE(traitsOf("aten", "").opClass, OpClass::Other);
}

/// `tags: nondeterministic_seeded` of native_functions.yaml.
void TestTraits::randomOperatorsOfPyTorch() {
    QCOMPARE(
        others(
            "alpha_dropout bernoulli bernoulli_ binomial cauchy_ dropout dropout_ exponential_ feature_alpha_dropout feature_dropout geometric_ log_normal_ multinomial "
            "native_dropout normal normal_ poisson rand rand_like randint randint_like randn randn_like random_ randperm rrelu rrelu_ uniform_",
            [](const Traits& traits) { return traits.is(Trait::Random); }),
        QByteArray());
    QCOMPARE(others("relu zeros full arange eye empty softmax fill_ clone add fractional_max_pool2d",
                    [](const Traits& traits) { return !traits.is(Trait::Random); }),
             QByteArray());
}

/// The page "ONNX Operators": those with an attribute `seed`.
void TestTraits::randomOperatorsOfOnnx() {
    for (const char* name : {"Bernoulli", "Dropout", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform",
                             "RandomUniformLike"}) {
        QVERIFY2(traitsOf("", name).is(Trait::Random), name);
        QVERIFY2(traitsOf("ai.onnx", name).is(Trait::Random), name);
    }
    for (const char* name : {"Relu", "ConstantOfShape", "Range", "Identity"})
        QVERIFY2(!traitsOf("", name).is(Trait::Random), name);
}

/// ONNX calls them element-wise; PyTorch tags them `pointwise` from 2.0 on.
void TestTraits::elementWiseOperators() {
    QCOMPARE(
        others(
            "abs add atan2 clamp cos div eq exp floor gelu hardswish le leaky_relu log logical_and maximum mul neg pow reciprocal relu rsqrt sigmoid silu sqrt sub tanh where",
            [](const Traits& traits) { return traits.is(Trait::ElementWise); }),
        QByteArray());
    QCOMPARE(others("softmax cumsum matmul conv2d sum cat layer_norm flip tril max_pool2d",
                    [](const Traits& traits) { return !traits.is(Trait::ElementWise); }),
             QByteArray());
    for (const char* name : {"Abs", "Add", "Relu", "Where", "Cast", "Clip"})
        QVERIFY2(traitsOf("", name).is(Trait::ElementWise), name);
    for (const char* name : {"Softmax", "MatMul", "ReduceSum", "Concat"})
        QVERIFY2(!traitsOf("", name).is(Trait::ElementWise), name);
}

/// From the "Shape" lines of torch.nn's pages, batch and channels as [N, C, …].
void TestTraits::shapesAfterTheFirstInput() {
    QCOMPARE(
        others("relu softmax layer_norm batch_norm group_norm dropout clone contiguous flip tril zeros_like cumsum",
               [](const Traits& traits) { return traits.is(Trait::KeepsShape); }),
        QByteArray());
    QCOMPARE(others("add reshape transpose cat matmul sum max_pool2d pad expand",
                    [](const Traits& traits) { return !traits.is(Trait::KeepsShape); }),
             QByteArray());
    QCOMPARE(others("max_pool2d avg_pool1d adaptive_avg_pool2d upsample_nearest2d",
                    [](const Traits& traits) { return traits.is(Trait::KeepsChannels); }),
             QByteArray());
    QCOMPARE(others("conv2d linear pad transpose permute slice narrow",
                    [](const Traits& traits) { return traits.is(Trait::KeepsRank); }),
             QByteArray());
    QCOMPARE(others("unsqueeze select flatten reshape stack expand",
                    [](const Traits& traits) { return !traits.is(Trait::KeepsRank); }),
             QByteArray());
    QCOMPARE(others("isnan logical_not to float", [](const Traits& traits) { return !traits.is(Trait::KeepsDType); }),
             QByteArray());
}

void TestTraits::spatialDimensions() {
    QCOMPARE(int(aten("conv1d").spatialDims), 1);
    QCOMPARE(int(aten("max_pool2d_with_indices").spatialDims), 2);
    QCOMPARE(int(aten("upsample_trilinear3d.vec").spatialDims), 3);
    QCOMPARE(int(aten("convolution").spatialDims), 0);
    QVERIFY(aten("_convolution").is(Trait::MayTranspose) && !aten("conv2d").is(Trait::MayTranspose));
}

/// native_functions.yaml: "alias of".
void TestTraits::otherNames() {
    const std::pair<const char*, const char*> same[] = {{"subtract", "sub"},
                                                        {"arccos", "acos"},
                                                        {"clip", "clamp"},
                                                        {"concat", "cat"},
                                                        {"moveaxis", "movedim"},
                                                        {"special_expit", "sigmoid"},
                                                        {"special_softmax", "softmax"},
                                                        {"swapdims", "transpose"}};
    for (const auto& [name, original] : same) {
        QCOMPARE(originalName(name), std::string_view(original));
        QCOMPARE(traitsOf("aten", name).opClass, aten(original).opClass);
    }
    QCOMPARE(originalName("relu"), std::string_view("relu"));
    QCOMPARE(aten("special_expit").opClass, OpClass::Sigmoid);
    // native_functions.yaml has no such in-place form.
    QVERIFY(!aten("special_expit").is(Trait::HasInPlaceForm) && aten("clip").is(Trait::HasInPlaceForm));
}

void TestTraits::overloadsAndOutForms() {
    QCOMPARE(aten("add.out").opClass, OpClass::Add);
    QCOMPARE(aten("size.int").query, ShapeQuery::Shape);
    QVERIFY(isOutOverload("add.out") && isOutOverload("max.dim_out") && !isOutOverload("add.Tensor"));
    QCOMPARE(QString::fromStdString(outOfPlaceName("add_.Tensor")), "add.Tensor");
    QCOMPARE(QString::fromStdString(outOfPlaceName("__iand__.Scalar")), "__and__.Scalar");
    QCOMPARE(QString::fromStdString(outOfPlaceName("swapaxes_")), "transpose.int");
    QCOMPARE(QString::fromStdString(outOfPlaceName("t_")), "t");
    QCOMPARE(QString::fromStdString(outOfPlaceName("add.Tensor")), "add.Tensor");
    QCOMPARE(QString::fromStdString(inPlaceName("__or__")), "__ior__");
    QCOMPARE(overloadOf("size.int"), std::string_view("int"));
    QVERIFY(overloadOf("size").empty());
}

/// torch.Tensor: x.T is x with reversed dimensions, x.H its adjoint.
void TestTraits::attributesThatAreOperators() {
    QCOMPARE(operatorOfAttribute("T"), std::string_view("numpy_T"));
    QCOMPARE(operatorOfAttribute("H"), std::string_view("matrix_H"));
    QVERIFY(operatorOfAttribute("shape").empty() && operatorOfAttribute("").empty());
}

void TestTraits::shapeQueries() {
    QCOMPARE(traitsOf("", "Shape").query, ShapeQuery::Shape);
    QCOMPARE(traitsOf("", "Size").query, ShapeQuery::Count);
    QCOMPARE(aten("dim").query, ShapeQuery::Rank);
    QCOMPARE(aten("numel").query, ShapeQuery::Count);
    QCOMPARE(traitsOf("prim", "len").query, ShapeQuery::Length);
    QCOMPARE(aten("sum").query, ShapeQuery::None);
}

void TestTraits::identitiesAtInference() {
    QCOMPARE(others("dropout alpha_dropout feature_dropout detach alias contiguous lift_fresh",
                    [](const Traits& traits) { return traits.isIdentityAtInference(); }),
             QByteArray());
    QCOMPARE(others("relu batch_norm clone copy_ to view",
                    [](const Traits& traits) { return !traits.isIdentityAtInference(); }),
             QByteArray());
    QVERIFY(traitsOf("", "Identity").isIdentityAtInference() && traitsOf("", "Dropout").isIdentityAtInference());
}

/// The inputs in the order of the operators' pages: Conv X, W, B; BatchNormalization X, scale, B, input_mean,
/// input_var.
/// By the pages of ONNX's operators: which inputs the outputs' elements come from.
void TestTraits::elementsThatAreOnlyMoved() {
    const auto moved = [](const char* name) {
        QByteArray inputs;
        for (std::size_t i = 0; i < 4; ++i) {
            if (movesElementsOf("", name, i)) inputs += QByteArray::number(static_cast<int>(i));
        }
        return inputs;
    };
    for (const char* name : {"Compress", "Expand", "Gather", "GatherElements", "GatherND", "Reshape", "Slice", "Split",
                             "Squeeze", "Tile", "Unsqueeze"})
        QVERIFY2(moved(name) == "0", name);
    QCOMPARE(moved("Concat"), QByteArray("0123"));
    for (const char* name : {"Scatter", "ScatterElements", "ScatterND"}) QVERIFY2(moved(name) == "02", name);
    QVERIFY(moved("Where").startsWith("12"));
    for (const char* name : {"Flatten", "Identity", "Transpose"}) QVERIFY2(moved(name).startsWith('0'), name);
    // Others are computed or filled in.
    for (const char* name : {"Add", "Cast", "Pad", "Trilu", "ReduceMax", "NoSuchOperator"})
        QVERIFY2(!onlyMovesElements("", name) && moved(name).isEmpty(), name);
    QVERIFY(!onlyMovesElements("aten", "Gather"));
}

void TestTraits::inputRoles() {
    const Traits& conv = traitsOf("", "Conv");
    QCOMPARE(conv.inputRole(0), InputRole::Data);
    QCOMPARE(conv.inputRole(1), InputRole::Weight);
    QCOMPARE(conv.inputRole(2), InputRole::Weight);
    const Traits& norm = traitsOf("", "BatchNormalization");
    QCOMPARE(norm.inputRole(2), InputRole::Weight);
    QCOMPARE(norm.inputRole(4), InputRole::Statistic);
    QCOMPARE(norm.inputRole(9), InputRole::Data);
    QCOMPARE(traitsOf("", "Gather").inputRole(0), InputRole::Embedding);
    QCOMPARE(traitsOf("com.microsoft", "MatMulNBits").inputRole(1), InputRole::Quantized);
    QCOMPARE(int(traitsOf("com.microsoft", "MatMulNBits").packedBits), 4);
    QCOMPARE(aten("embedding").inputRole(0), InputRole::Weight);
    QCOMPARE(aten("transpose").inputRole(0), InputRole::Through);
    QCOMPARE(aten("transpose").inputRole(1), InputRole::Unsaid);
    QCOMPARE(aten("relu").inputRole(0), InputRole::Unsaid);
}

void TestTraits::eachNameStandsOnce() {
    const std::vector<std::vector<std::span<const Row>>> domains{
        {elementwiseRows(), layerRows(), viewRows(), creationRows(), dataRows()},
        {pythonRows()},
        {onnxRows()},
        {contribRows()},
        {previewRows()},
        {ownRows()}};
    for (const auto& families : domains) {
        std::set<QByteArray> seen;
        for (const std::span<const Row> rows : families) {
            for (const Row& row : rows) {
                const QByteArray names(row.names.data(), static_cast<qsizetype>(row.names.size()));
                QCOMPARE(names, names.simplified());
                for (const QByteArray& name : names.split(' ')) QVERIFY2(seen.insert(name).second, name.constData());
            }
        }
    }
    // What a row says itself is not said again by another name of it; who has an alias of one kind has none of the
    // other.
    std::set<std::string_view> names;
    for (const Alias& alias : aliases()) QVERIFY2(names.insert(alias.name).second, std::string(alias.name).c_str());
    for (const Alias& alias : exactAliases())
        QVERIFY2(names.insert(alias.name).second, std::string(alias.name).c_str());
}

/// native_functions.yaml: `name` and `name_`. A sample from each family, and operators without such a form.
void TestTraits::inPlaceFormsOfPyTorch() {
    QCOMPARE(
        others(
            "abs add addmm as_strided bernoulli celu clamp copy cumsum detach dropout eq erf fill floor_divide gelu index_put lerp masked_fill mish pow relu round "
            "scatter selu sigmoid squeeze sub t tanh tril unsqueeze zero __and__ arccos negative",
            [](const Traits& traits) { return traits.is(Trait::HasInPlaceForm); }),
        QByteArray());
    QCOMPARE(
        others(
            "softmax matmul maximum minimum conv2d rsub where softplus prelu isnan view permute cat mean linear logsumexp expand select",
            [](const Traits& traits) { return !traits.is(Trait::HasInPlaceForm); }),
        QByteArray());
}

/// aten/src/ATen/native: `return self;`, and `return tensors[0];` of lists with one element.
void TestTraits::tensorsGivenBack() {
    const auto among = [](const char* names, auto&& holds) {
        QList<QByteArray> result;
        for (const QByteArray& name : words(names)) {
            if (holds("aten", std::string_view(name.constData(), static_cast<std::size_t>(name.size()))))
                result << name;
        }
        return listed(result);
    };
    const char* given =
        "as_tensor atleast_1d atleast_2d atleast_3d broadcast_tensors chain_matmul cartesian_prod conj conj_physical flatten lift "
        "lift_fresh positive real requires_grad_ resolve_conj resolve_neg contiguous to dropout flatten.using_ints";
    QCOMPARE(among(given, mayReturnItsArgument), QByteArray(given));
    QVERIFY(mayReturnItsArgument("prim", "unchecked_cast"));
    QCOMPARE(among("view reshape ravel expand squeeze permute alias detach data imag einsum meshgrid as_strided "
                   "conj_physical_ _conj",
                   mayReturnItsArgument),
             QByteArray());
    const char* only = "cartesian_prod chain_matmul einsum";
    QCOMPARE(among(only, returnsItsOnlyTensor), QByteArray(only));
    QCOMPARE(among("cat stack broadcast_tensors matmul", returnsItsOnlyTensor), QByteArray());
    QVERIFY(readsWholeStorage("aten", "as_strided") && readsWholeStorage("aten", "as_strided_"));
    QCOMPARE(among("as_strided_copy unfold view diagonal", readsWholeStorage), QByteArray());
}

/// assert_no_overlap in TensorAdvancedIndexing.cpp; fill_ and masked_fill_ take item() of a value first.
void TestTraits::writesThatRefuseOverlap() {
    for (const char* name : {"index_put_", "index_add_", "index_copy_", "index_fill_.int_Scalar", "scatter_.src",
                             "scatter_add_", "scatter_reduce_.two", "masked_scatter_", "put_", "index_select.out"})
        QVERIFY2(refusesAnyOverlap(name), name);
    for (const char* name : {"add_.Tensor", "copy_", "masked_fill_.Tensor", "fill_", "slice_scatter", "setitem"})
        QVERIFY2(!refusesAnyOverlap(name), name);
    QVERIFY(readsNumberFirst("fill_.Tensor") && readsNumberFirst("masked_fill_.Tensor"));
    for (const char* name :
         {"fill.Tensor", "masked_fill.Tensor", "fill_diagonal_", "add_.Tensor", "index_fill_.int_Tensor"})
        QVERIFY2(!readsNumberFirst(name), name);
}

QTEST_APPLESS_MAIN(TestTraits)

}  // namespace tst_traits

#include "tst_traits.moc"
