// Gradients of single operators against central differences: see difference_case.h.

#include <QtTest>

#include <functional>
#include <numeric>
#include <random>

#include "tests/core/session/gradient/difference_case.h"

namespace tst_gradient_rules {

using namespace sonde;
using namespace sonde::test::gradients;
using namespace sonde::test::gradients::differences;
using graph::Argument;
using graph::NodeId;
using tensor::Attributes;
using tensor::Tensor;
using tensor::Value;

class TestGradientRules : public QObject {
    Q_OBJECT

  private slots:
    void agreesWithDifferences_data();
    void agreesWithDifferences();
};

static void addOnnxRows(const std::function<void(const char*, Case)>& row) {
    for (const char* op : {"Tan", "Asin", "Acos", "Atan", "Sinh", "Cosh", "Asinh", "Atanh", "Softsign"})
        row(op, plain(op, 9, {{2, 3}}, {}, -0.9, 0.9));
    row("Acosh", plain("Acosh", 9, {{2, 3}}, {}, 1.2, 2));
    row("HardSigmoid", plain("HardSigmoid", 6, {{3, 5}}, {{"alpha", 0.3}}, -3, 3));
    row("HardSwish", plain("HardSwish", 14, {{3, 5}}, {}, -4, 4));
    for (const char* op : {"Selu", "Celu", "ThresholdedRelu", "Mish", "Shrink"})
        row(op, plain(op, op == std::string("Mish") ? 18 : 12, {{3, 5}}, {}, -2, 2));
    row("PRelu", plain("PRelu", 16, {{2, 3, 2}, {3, 1}}, {}, -1, 1.3));
    row("Mod", plain("Mod", 13, {{2, 3}, {3}}, {{"fmod", std::int64_t{1}}}, 0.4, 2.3));
    row("Mean", plain("Mean", 13, {{2, 3}, {3}, {1, 3}}));
    row("Gelu tanh", plain("Gelu", 20, {{2, 4}}, {{"approximate", std::string("tanh")}}, -2, 2));
    row("Softmax of version 11", plain("Softmax", 11, {{2, 3, 2}}, {{"axis", std::int64_t{1}}}));
    row("LogSoftmax of version 1", plain("LogSoftmax", 1, {{2, 2, 2}}, {{"axis", std::int64_t{1}}}));
    for (const char* op : {"ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceLogSum", "ReduceLogSumExp"}) {
        row(op, plain(op, 13, {{2, 3, 2}}, {{"axes", Dims{1}}, {"keepdims", std::int64_t{0}}}));
        row(qPrintable(QString("%1 of all").arg(op)), plain(op, 13, {{2, 3}}));
    }
    row("LRN", plain("LRN", 13, {{2, 5, 2, 2}}, {{"size", std::int64_t{3}}, {"alpha", 0.4}, {"bias", 1.5}}));
    row("LRN, even size", plain("LRN", 13, {{1, 4, 2}}, {{"size", std::int64_t{2}}, {"alpha", 0.7}}));
    row("InstanceNormalization", plain("InstanceNormalization", 6, {{2, 3, 4}, {3}, {3}}));
    row("GroupNormalization",
        plain("GroupNormalization", 21, {{2, 4, 3}, {4}, {4}}, {{"num_groups", std::int64_t{2}}}));
    row("GroupNormalization of version 18",
        plain("GroupNormalization", 18, {{2, 4, 3}, {2}, {2}}, {{"num_groups", std::int64_t{2}}}));
    row("LpNormalization", plain("LpNormalization", 1, {{2, 3}}));
    row("LpNormalization 1",
        plain("LpNormalization", 1, {{2, 3}}, {{"p", std::int64_t{1}}, {"axis", std::int64_t{0}}}));
    row("MeanVarianceNormalization", plain("MeanVarianceNormalization", 13, {{2, 2, 2, 2}}));
    row("GlobalMaxPool", plain("GlobalMaxPool", 1, {{2, 2, 2, 3}}));
    row("ConvTranspose", plain("ConvTranspose", 11, {{2, 3, 3, 4}, {3, 2, 3, 2}, {2}},
                               {{"strides", Dims{2, 1}}, {"pads", Dims{1, 0, 0, 1}}, {"output_padding", Dims{1, 0}}}));
    row("ConvTranspose, groups and holes",
        plain("ConvTranspose", 11, {{1, 4, 5}, {4, 1, 3}},
              {{"group", std::int64_t{2}}, {"dilations", Dims{2}}, {"strides", Dims{3}}}));
    row("Conv, strides that leave a rest",
        plain("Conv", 11, {{2, 2, 7, 6}, {3, 2, 3, 2}, {3}}, {{"strides", Dims{3, 2}}, {"pads", Dims{1, 1, 0, 1}}}));
    row("Conv, SAME_LOWER", plain("Conv", 11, {{1, 2, 6, 5}, {2, 2, 2, 2}},
                                  {{"auto_pad", std::string("SAME_LOWER")}, {"strides", Dims{2, 2}}}));
    row("Conv by depth",
        plain("Conv", 11, {{1, 4, 5}, {4, 1, 3}}, {{"group", std::int64_t{4}}, {"dilations", Dims{2}}}));
    for (const char* mode : {"constant", "reflect", "edge"})
        row(qPrintable(QString("Pad %1").arg(mode)),
            {{{2, 3}}, [=](SmallNet& net, const Nodes& xs) {
                 return onnx(net, "Pad", 13, {on(xs[0]), int64s({1, 2, 0, 1})}, {{"mode", std::string(mode)}});
             }});
    row("Pad wrap, cut",
        {{{2, 4}}, [](SmallNet& net, const Nodes& xs) {
             return onnx(net, "Pad", 19, {on(xs[0]), int64s({1, -1, 0, 2})}, {{"mode", std::string("wrap")}});
         }});
    row("Det", plain("Det", 11, {{2, 3, 3}}));
    row("Inverse", {{{2, 3, 3}}, [](SmallNet& net, const Nodes& xs) {
                        return net.call({"com.microsoft", "Inverse", 1}, {on(xs[0])});
                    }});
    for (const char* mode : {"avg", "max"})
        row(qPrintable(QString("RoiAlign %1").arg(mode)),
            {{{2, 2, 4, 5}}, [=](SmallNet& net, const Nodes& xs) {
                 const Argument regions = Argument::of(Value(
                     Tensor::of<double>({3, 4}, std::vector<double>{0.2, 0.4, 3.1, 2.9, -1, -2, 2, 3, 1, 1, 9, 7})));
                 return onnx(net, "RoiAlign", 16, {on(xs[0]), regions, int64s({1, 0, 1})},
                             {{"mode", std::string(mode)},
                              {"output_height", std::int64_t{2}},
                              {"output_width", std::int64_t{3}},
                              {"sampling_ratio", std::int64_t{mode[0] == 'a' ? 0 : 2}}});
             }});
    row("Trilu", {{{3, 3}}, [](SmallNet& net, const Nodes& xs) {
                      return onnx(net, "Trilu", 14, {on(xs[0])}, {{"upper", std::int64_t{0}}});
                  }});
    row("CumSum", {{{2, 4}}, [](SmallNet& net, const Nodes& xs) {
                       const Argument axis = Argument::of(Value(Tensor::scalar<std::int64_t>(1)));
                       return onnx(net, "CumSum", 14, {on(xs[0]), axis}, {{"exclusive", std::int64_t{1}}});
                   }});
    row("CumProd, reverse", {{{2, 4}}, [](SmallNet& net, const Nodes& xs) {
                                 const Argument axis = Argument::of(Value(Tensor::scalar<std::int64_t>(1)));
                                 return onnx(net, "CumProd", 26, {on(xs[0]), axis}, {{"reverse", std::int64_t{1}}});
                             }});
    for (const char* reduction : {"none", "add"})
        row(qPrintable(QString("ScatterElements %1").arg(reduction)),
            {{{3, 2}, {2, 2}}, [=](SmallNet& net, const Nodes& xs) {
                 const Argument where = Argument::of(Value(Tensor::of<std::int64_t>({2, 2}, {2, 0, 1, 2})));
                 return onnx(net, "ScatterElements", 16, {on(xs[0]), where, on(xs[1])},
                             {{"reduction", std::string(reduction)}});
             }});
    row("ScatterND", {{{3, 2}, {2, 2}}, [](SmallNet& net, const Nodes& xs) {
                          const Argument where = Argument::of(Value(Tensor::of<std::int64_t>({2, 1}, {2, 0})));
                          return onnx(net, "ScatterND", 16, {on(xs[0]), where, on(xs[1])});
                      }});
    row("TopK", {{{2, 5}}, [](SmallNet& net, const Nodes& xs) {
                     return Nodes{onnx(net, "TopK", 11, {on(xs[0]), int64s({3})}, {}, 2).front()};
                 }});
    row("Einsum", plain("Einsum", 12, {{2, 3, 4}, {2, 4, 2}}, {{"equation", std::string("bij,bjk->bik")}}));
    row("Einsum, a summed letter", plain("Einsum", 12, {{2, 3}, {3, 2}}, {{"equation", std::string("ij,jk->k")}}));
    for (const char* mode : {"nearest", "linear", "cubic"}) {
        row(qPrintable(QString("Resize %1 by scales").arg(mode)),
            {{{1, 2, 3, 4}}, [=](SmallNet& net, const Nodes& xs) {
                 const Argument scales = Argument::of(Value(Tensor::of<float>({4}, {1, 1, 1.7F, 0.6F})));
                 return onnx(net, "Resize", 13, {on(xs[0]), Argument::omitted(), scales},
                             {{"mode", std::string(mode)}});
             }});
        row(qPrintable(QString("Resize %1 by sizes").arg(mode)),
            {{{2, 3, 4}}, [=](SmallNet& net, const Nodes& xs) {
                 return onnx(
                     net, "Resize", 13, {on(xs[0]), Argument::omitted(), Argument::omitted(), int64s({2, 5, 3})},
                     {{"mode", std::string(mode)}, {"coordinate_transformation_mode", std::string("align_corners")}});
             }});
    }
    for (const char* direction : {"forward", "reverse", "bidirectional"}) {
        const std::int64_t d = direction == std::string("bidirectional") ? 2 : 1;
        const Attributes attributes{{"hidden_size", std::int64_t{2}}, {"direction", std::string(direction)}};
        const auto recurrent = [&](const char* op, std::int64_t gates, std::size_t outputs, Attributes more) {
            for (const char* one : {"hidden_size", "direction"}) more.set(one, *attributes.find(one));
            return Case{{{3, 2, 3}, {d, gates * 2, 3}, {d, gates * 2, 2}, {d, gates * 4}, {d, 2, 2}},
                        [=](SmallNet& net, const Nodes& xs) {
                            return onnx(net, op, 14,
                                        {on(xs[0]), on(xs[1]), on(xs[2]), on(xs[3]), Argument::omitted(), on(xs[4])},
                                        more, outputs);
                        },
                        -1,
                        1};
        };
        row(qPrintable(QString("LSTM %1").arg(direction)), recurrent("LSTM", 4, 3, {}));
        row(qPrintable(QString("GRU %1").arg(direction)), recurrent("GRU", 3, 2, {}));
        row(qPrintable(QString("GRU, linear before reset, %1").arg(direction)),
            recurrent("GRU", 3, 2, {{"linear_before_reset", std::int64_t{1}}}));
        row(qPrintable(QString("RNN %1").arg(direction)), recurrent("RNN", 1, 2, {}));
    }
    row("a sequence", {{{2, 2}, {2, 3}}, [](SmallNet& net, const Nodes& xs) {
                           const NodeId list = onnx(net, "SequenceConstruct", 11, {on(xs[0]), on(xs[1])}).front();
                           return onnx(net, "ConcatFromSequence", 11, {on(list)}, {{"axis", std::int64_t{1}}});
                       }});
}

/// Shapes and arguments by chance: other ones with SONDE_RANDOM_SEED.
class RandomRows {
  public:
    using Row = std::function<void(const char*, Case)>;
    RandomRows(unsigned seed, const Row& row) : m_random(seed), m_row(row) {}

    void add(int number) {
        m_number = number;
        picks();
        scattered();
        blocks();
        sampled();
        losses();
        resized();
        simple();
    }

  private:
    std::int64_t number(std::int64_t low, std::int64_t high) {
        return low + static_cast<std::int64_t>(m_random() % static_cast<unsigned>(high - low + 1));
    }
    Dims shape(std::size_t low, std::size_t high, std::int64_t largest = 3) {
        Dims dims(static_cast<std::size_t>(number(std::int64_t(low), std::int64_t(high))));
        for (std::int64_t& dim : dims) dim = number(1, largest);
        return dims;
    }
    static std::int64_t count(const Dims& dims) {
        return std::accumulate(dims.begin(), dims.end(), std::int64_t{1}, std::multiplies<>());
    }
    Argument indices(const Dims& dims, std::int64_t size) {
        std::vector<std::int64_t> values(static_cast<std::size_t>(count(dims)));
        for (std::int64_t& value : values) value = number(-size, size - 1);
        return Argument::of(Value(Tensor::of<std::int64_t>(tensor::Shape(dims), values)));
    }
    void row(const std::string& op, Case one) {
        m_row(qPrintable(QString("%1, random %2").arg(op.c_str()).arg(m_number)), std::move(one));
    }
    /// An operator on x and one constant.
    void with(const std::string& op, int version, const Dims& x, Argument second, Attributes attributes = {}) {
        row(op, {{x}, [=](SmallNet& net, const Nodes& xs) {
                     return onnx(net, op, version, {on(xs[0]), second}, attributes);
                 }});
    }

    void picks() {
        Dims x = shape(1, 4);
        const auto axis = static_cast<std::size_t>(number(0, std::int64_t(x.size()) - 1));
        const Attributes along{{"axis", static_cast<std::int64_t>(axis)}};
        Dims at = x;
        at[axis] = number(1, 4);
        with("GatherElements", 13, x, indices(at, x[axis]), along);
        with("Gather", 13, x, indices(shape(1, 2), x[axis]), along);
        std::vector<double> kept(static_cast<std::size_t>(x[axis]), 1);
        for (std::size_t i = 1; i < kept.size(); ++i) kept[i] = static_cast<double>(number(0, 1));
        const Tensor condition = Tensor::of<double>({x[axis]}, kept).cast(tensor::DType::Bool).value();
        with("Compress", 11, x, Argument::of(Value(condition)), along);
        Dims repeats(x.size());
        for (std::int64_t& times : repeats) times = number(1, 3);
        with("Tile", 13, x, int64s(repeats));
        // Of the first two axes one place in each row, along batches of the first axis or not.
        const Dims y{number(1, 3), number(1, 3), number(1, 3)};
        with("GatherND", 13, y, indices({y[0], 2, 1}, y[1]), {{"batch_dims", std::int64_t{1}}});
        with("GatherND", 13, y, indices({number(1, 4), 1}, y[0]));
        Dims lengths(static_cast<std::size_t>(y[1]));
        for (std::int64_t& length : lengths) length = number(1, y[0]);
        with("ReverseSequence", 10, y, int64s(lengths));
    }
    /// Values that are all different: at ties there is no derivative.
    void scattered() {
        const Dims x = shape(1, 3);
        const auto axis = static_cast<std::size_t>(number(0, std::int64_t(x.size()) - 1));
        Dims at = x;
        at[axis] = number(1, 4);
        const Argument places = indices(at, x[axis]);
        const std::int64_t slices = number(1, 4);
        Dims updates{slices};
        updates.insert(updates.end(), x.begin() + 1, x.end());
        const Argument rows = indices({slices, 1}, x[0]);
        for (const char* reduction : {"mul", "max", "min"}) {
            const Attributes by{{"reduction", std::string(reduction)}, {"axis", static_cast<std::int64_t>(axis)}};
            row(std::string("ScatterElements ") + reduction,
                {{x, at}, [=](SmallNet& net, const Nodes& xs) {
                     return onnx(net, "ScatterElements", 18, {on(xs[0]), places, on(xs[1])}, by);
                 }});
            row(std::string("ScatterND ") + reduction, {{x, updates}, [=](SmallNet& net, const Nodes& xs) {
                                                            return onnx(net, "ScatterND", 18,
                                                                        {on(xs[0]), rows, on(xs[1])},
                                                                        {{"reduction", std::string(reduction)}});
                                                        }});
        }
        const Argument along = Argument::of(Value(Tensor::scalar<std::int64_t>(static_cast<std::int64_t>(axis))));
        with("CumProd", 26, x, along, {{"exclusive", number(0, 1)}, {"reverse", number(0, 1)}});
    }
    void sampled() {
        const std::int64_t channels = number(1, 2);
        const Dims block{number(1, 3), number(1, 2)}, places{number(1, 3), number(1, 2)}, strides{number(1, 2), 1},
            dilations{1, number(1, 2)};
        Dims image;
        for (std::size_t i : {0U, 1U})
            image.push_back((places[i] - 1) * strides[i] + (block[i] - 1) * dilations[i] + 1 - (i == 0 ? 1 : 0));
        if (image[0] > 0)
            row("Col2Im",
                {{{2, channels * block[0] * block[1], places[0] * places[1]}}, [=](SmallNet& net, const Nodes& xs) {
                     return onnx(net, "Col2Im", 18, {on(xs[0]), int64s(image), int64s(block)},
                                 {{"strides", strides}, {"dilations", dilations}, {"pads", Dims{1, 0, 0, 0}}});
                 }});
        const Dims sizes{number(1, 3), number(1, 4)};
        for (const char* mode : {"linear", "nearest", "cubic"})
            for (const char* padding : {"zeros", "border", "reflection"})
                row(std::string("GridSample ") + mode + ' ' + padding,
                    plain("GridSample", 20, {{2, channels, sizes[0], sizes[1]}, {2, 2, number(1, 2), 2}},
                          {{"mode", std::string(mode)},
                           {"padding_mode", std::string(padding)},
                           {"align_corners", number(0, 1)}},
                          -1.4, 1.4));
        row("GridSample of a volume",
            plain("GridSample", 20, {{1, channels, 2, 3, 2}, {1, 1, 2, 2, 3}}, {}, -1.2, 1.2));
    }
    void losses() {
        Dims labels = shape(1, 3);
        const std::int64_t classes = number(2, 4);
        Dims scores = labels;
        scores.insert(scores.begin() + 1, classes);
        std::vector<std::int64_t> chosen(static_cast<std::size_t>(count(labels)));
        for (std::int64_t& label : chosen) label = number(0, classes - 1);
        const Argument target = Argument::of(Value(Tensor::of<std::int64_t>(tensor::Shape(labels), chosen)));
        // One label counts, so that the mean is a number.
        const std::int64_t ignored = (chosen.front() + 1) % classes;
        for (const char* op : {"NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss"})
            for (const char* reduction : {"none", "sum", "mean"}) {
                Attributes attributes{{"reduction", std::string(reduction)}};
                if (number(0, 1) != 0) attributes.set("ignore_index", ignored);
                const std::size_t outputs = op[0] == 'S' ? 2 : 1;
                row(std::string(op) + ' ' + reduction,
                    {{scores, {classes}}, [=](SmallNet& net, const Nodes& xs) {
                         return onnx(net, op, 13, {on(xs[0]), target, on(xs[1])}, attributes, outputs);
                     }});
            }
    }
    void blocks() {
        const std::int64_t size = number(1, 3);
        const Attributes by{{"blocksize", size}};
        row("SpaceToDepth",
            plain("SpaceToDepth", 13, {{1, number(1, 2), size * number(1, 2), size * number(1, 2)}}, by));
        for (const char* mode : {"DCR", "CRD"})
            row(std::string("DepthToSpace ") + mode,
                plain("DepthToSpace", 13, {{1, size * size * number(1, 2), number(1, 2), number(1, 3)}},
                      {{"blocksize", size}, {"mode", std::string(mode)}}));
    }
    void resized() {
        const Dims x{1, number(1, 2), number(1, 3), number(2, 3)};
        const std::vector<float> scales{1, 1, static_cast<float>(number(2, 5)) / 2,
                                        static_cast<float>(number(2, 5)) / 2};
        for (const char* mode : {"nearest", "linear"})
            row(std::string("Upsample ") + mode,
                {{x}, [=](SmallNet& net, const Nodes& xs) {
                     return onnx(net, "Upsample", 9, {on(xs[0]), Argument::of(Value(Tensor::of<float>({4}, scales)))},
                                 {{"mode", std::string(mode)}});
                 }});
    }
    void simple() {
        const Dims x = shape(2, 4);
        const std::int64_t axis = number(0, std::int64_t(x.size()) - 1);
        const Dims scaled(x.begin() + axis, x.end());
        row("RMSNormalization", plain("RMSNormalization", 23, {x, scaled}, {{"axis", axis}, {"epsilon", 0.01}}));
        row("LayerNormalization",
            plain("LayerNormalization", 17, {x, scaled, scaled}, {{"axis", axis}, {"epsilon", 0.01}}));
        row("Swish", plain("Swish", 24, {x}, {{"alpha", 0.25 * static_cast<double>(number(1, 8))}}, -2, 2));
        row("Hardmax", plain("Hardmax", 13, {x}, {{"axis", axis}}));
        row("Softmax", plain("Softmax", 13, {x}, {{"axis", axis}}));
        row("ReduceL2", plain("ReduceL2", 13, {x}, {{"axes", Dims{axis}}}));
        const Dims broadcast{x.back()};
        row("Mul, broadcast", plain("Mul", 14, {x, broadcast}));
        row("Div, broadcast", plain("Div", 14, {broadcast, x}));
        const std::int64_t groups = number(1, 2), in = number(1, 2), out = number(1, 2), k = number(1, 3);
        row("Conv",
            plain("Conv", 11, {{1, groups * in, number(k, 5)}, {groups * out, in, k}, {groups * out}},
                  {{"group", groups}, {"strides", Dims{number(1, 2)}}, {"pads", Dims{number(0, 1), number(0, 2)}}}));
    }

    std::mt19937 m_random;
    const Row& m_row;
    int m_number = 0;
};

static void addAtenRows(const std::function<void(const char*, Case)>& row) {
    for (const char* op : {"relu", "relu_", "sigmoid", "tanh", "silu", "abs", "neg", "exp", "contiguous"})
        row(op, aten(op, {{2, 3}}, {}, -1, 1));
    for (const char* op : {"hardswish", "hardswish_", "hardsigmoid"}) row(op, aten(op, {{3, 5}}, {}, -4, 4));
    row("gelu", aten("gelu", {{2, 4}}, {Argument::of(Value(std::string("none")))}, -2, 2));
    row("leaky_relu", aten("leaky_relu", {{2, 4}}, {number(0.2)}, -1, 1));
    row("elu", aten("elu", {{2, 4}}, {number(1), number(1), number(1)}, -1, 1));
    row("hardtanh", aten("hardtanh", {{2, 4}}, {number(-0.5), number(0.6)}, -1, 1));
    row("clamp", aten("clamp", {{2, 4}}, {number(-0.5), none()}, -1, 1));
    row("pow.Tensor_Scalar", aten("pow.Tensor_Scalar", {{2, 3}}, {number(3)}));
    row("add.Tensor", aten("add.Tensor", {{2, 3}, {3}}, {number(2)}));
    row("add_.Tensor", aten("add_.Tensor", {{2, 3}, {2, 3}}, {number(1)}));
    row("sub.Tensor", aten("sub.Tensor", {{2, 3}, {2, 1}}, {number(0.5)}));
    row("rsub.Scalar", aten("rsub.Scalar", {{2, 3}}, {number(1), number(2)}));
    row("mul.Tensor", aten("mul.Tensor", {{2, 1, 3}, {4, 1}}));
    row("div.Scalar", aten("div.Scalar", {{2, 3}}, {number(3)}));
    row("linear", aten("linear", {{2, 3, 4}, {5, 4}, {5}}));
    row("matmul", aten("matmul", {{2, 1, 2, 3}, {3, 3, 2}}));
    row("bmm", aten("bmm", {{2, 2, 3}, {2, 3, 2}}));
    row("conv2d", aten("conv2d", {{2, 3, 5, 4}, {2, 3, 3, 2}, {2}},
                       {integers({2, 1}), integers({1, 0}), integers({1, 1}), integer(1)}));
    row("_convolution", aten("_convolution", {{1, 4, 6, 5}, {4, 2, 3, 3}, {4}},
                             {integers({1, 2}), integers({2, 1}), integers({2, 1}), flag(false), integers({0, 0}),
                              integer(2), flag(false), flag(false), flag(false), flag(false)}));
    row("conv_transpose2d.input",
        aten("conv_transpose2d.input", {{1, 2, 3, 3}, {2, 3, 2, 2}, {3}},
             {integers({2, 2}), integers({0, 0}), integers({1, 1}), integer(1), integers({1, 1})}));
    row("batch_norm", {{{2, 3, 4}, {3}, {3}}, [](SmallNet& net, const Nodes& xs) {
                           const auto fixed = [](std::vector<double> values) {
                               return Argument::of(Value(Tensor::of<double>({3}, values)));
                           };
                           return net.call({"aten", "batch_norm", 0},
                                           {on(xs[0]), on(xs[1]), on(xs[2]), fixed({0.2, 0.5, 1}), fixed({0.5, 1, 2}),
                                            flag(false), number(0.1), number(1e-5), flag(false)});
                       }});
    row("layer_norm", {{{2, 3, 4}, {4}, {4}}, [](SmallNet& net, const Nodes& xs) {
                           return net.call({"aten", "layer_norm", 0},
                                           {on(xs[0]), integers({4}), on(xs[1]), on(xs[2]), number(1e-5), flag(false)});
                       }});
    row("group_norm", {{{2, 4, 3}, {4}, {4}}, [](SmallNet& net, const Nodes& xs) {
                           return net.call({"aten", "group_norm", 0},
                                           {on(xs[0]), integer(2), on(xs[1]), on(xs[2]), number(1e-5), flag(false)});
                       }});
    row("softmax.int", aten("softmax.int", {{2, 3, 2}}, {integer(1), none()}));
    row("log_softmax.int", aten("log_softmax.int", {{2, 4}}, {integer(-1), none()}));
    row("max_pool2d", aten("max_pool2d", {{1, 2, 4, 5}},
                           {integers({2, 3}), integers({1, 2}), integers({0, 1}), integers({1, 1}), flag(false)}));
    row("avg_pool2d", aten("avg_pool2d", {{1, 2, 4, 5}},
                           {integers({3, 2}), integers({2, 2}), integers({1, 0}), flag(false), flag(true), none()}));
    row("adaptive_avg_pool2d", aten("adaptive_avg_pool2d", {{1, 2, 4, 6}}, {integers({2, 3})}));
    row("adaptive_avg_pool2d to one", aten("adaptive_avg_pool2d", {{1, 2, 3, 5}}, {integers({1, 1})}));
    row("mean.dim", aten("mean.dim", {{2, 3, 4}}, {integers({1, 2}), flag(false), none()}));
    row("sum.dim_IntList", aten("sum.dim_IntList", {{2, 3}}, {integers({1}), flag(true), none()}));
    row("amax", aten("amax", {{2, 3, 2}}, {integers({1}), flag(false)}));
    row("max", aten("max", {{2, 3}}));
    row("upsample_bilinear2d.vec",
        aten("upsample_bilinear2d.vec", {{1, 2, 3, 3}}, {integers({5, 7}), flag(false), none()}));
    row("upsample_nearest2d.vec", aten("upsample_nearest2d.vec", {{1, 2, 3, 3}}, {integers({6, 5}), none()}));
    row("transpose.int", aten("transpose.int", {{2, 3}}, {integer(0), integer(1)}));
    row("permute", aten("permute", {{2, 3, 4}}, {integers({2, 0, 1})}));
    row("view", aten("view", {{2, 6}}, {integers({3, -1})}));
    row("expand", aten("expand", {{3, 1}}, {integers({2, 3, 2}), flag(false)}));
    row("flatten.using_ints", aten("flatten.using_ints", {{2, 3, 2}}, {integer(1), integer(-1)}));
    row("squeeze.dim", aten("squeeze.dim", {{2, 1, 3}}, {integer(1)}));
    row("unsqueeze", aten("unsqueeze", {{2, 3}}, {integer(1)}));
    row("embedding",
        {{{4, 2}}, [](SmallNet& net, const Nodes& xs) {
             const Argument ids = Argument::of(Value(Tensor::of<std::int64_t>({3}, {2, 0, 2})));
             return net.call({"aten", "embedding", 0}, {on(xs[0]), ids, integer(-1), flag(false), flag(false)});
         }});
    row("masked_fill.Scalar", {{{2, 2}}, [](SmallNet& net, const Nodes& xs) {
                                   const Argument mask = Argument::of(Value(Tensor::of<bool>({2}, {true, false})));
                                   return net.call({"aten", "masked_fill.Scalar", 0}, {on(xs[0]), mask, number(7)});
                               }});
    row("cat of a list",
        {{{2, 2}, {2, 3}}, [](SmallNet& net, const Nodes& xs) {
             const NodeId list = net.call({"prim", "ListConstruct", 0}, {on(xs[0]), on(xs[1])}).front();
             return net.call({"aten", "cat", 0}, {on(list), integer(1)});
         }});
    row("stack", {{{2, 2}, {2, 2}}, [](SmallNet& net, const Nodes& xs) {
                      const Argument list = Argument::container(Argument::Kind::List, {on(xs[0]), on(xs[1])});
                      return net.call({"aten", "stack", 0}, {list, integer(0)});
                  }});
    row("chunk", {{{2, 5}}, [](SmallNet& net, const Nodes& xs) {
                      const NodeId list = net.call({"aten", "chunk", 0}, {on(xs[0]), integer(2), integer(1)}).front();
                      return net.call({"prim", "getitem", 0}, {on(list), integer(1)});
                  }});
}

void TestGradientRules::agreesWithDifferences_data() {
    QTest::addColumn<std::shared_ptr<Case>>("one");
    const auto row = [](const char* name, Case one) { QTest::newRow(name) << std::make_shared<Case>(std::move(one)); };
    addOnnxRows([&](const char* name, Case one) { row(name, std::move(one)); });
    const RandomRows::Row random = [&](const char* name, Case one) { row(name, std::move(one)); };
    constexpr int kShapes = 4;
    RandomRows rows(static_cast<unsigned>(qEnvironmentVariableIntValue("SONDE_RANDOM_SEED")) + 17, random);
    for (int i = 0; i < kShapes; ++i) rows.add(i);
    addAtenRows([&](const char* name, Case one) { row(qPrintable(QString("aten: %1").arg(name)), std::move(one)); });
}

void TestGradientRules::agreesWithDifferences() {
    QFETCH(std::shared_ptr<Case>, one);
    const QString wrong = wrongDerivative(*one);
    QVERIFY2(wrong.isEmpty(), qPrintable(wrong));
}

QTEST_GUILESS_MAIN(TestGradientRules)

}  // namespace tst_gradient_rules

#include "tst_gradient_rules.moc"
