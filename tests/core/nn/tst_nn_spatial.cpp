// Layers over spatial axes: convolutions, poolings, pads, folds, resampling. Numbers are worked by hand.

#include <QtTest>

#include "core/nn/containers.h"
#include "core/nn/conv.h"
#include "core/nn/fold.h"
#include "core/nn/padding.h"
#include "core/nn/pooling.h"
#include "core/nn/upsample.h"
#include "tests/core/nn/layer_run.h"

namespace tst_nn_spatial {

using namespace sonde;
using namespace sonde::test;
using nn::ConvOptions;
using nn::Sizes;

namespace {

template <typename L, typename... Args>
std::shared_ptr<nn::Module> make(Args&&... args) {
    return std::make_shared<L>(std::forward<Args>(args)...);
}

Tensor image() { return floats({1, 1, 3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9}); }
Tensor signal() { return floats({1, 1, 4}, {1, 2, 3, 4}); }

}  // namespace

class TestNnSpatial : public QObject {
    Q_OBJECT

  private slots:
    void convolutionsPad() {
        auto same = make<nn::Conv1d>(1, 1, 2, ConvOptions{.padding = "same"});
        setTensor(*same, "weight", floats({1, 1, 2}, {10, 1}));
        COMPARE_FLOATS(runLayer(same, {signal()}), 0, 12, 23, 34, 40);  // one zero behind the end
        const std::pair<const char*, std::vector<float>> modes[] = {
            {"circular", {41, 12, 23, 34, 41}}, {"replicate", {11, 12, 23, 34, 44}}, {"reflect", {21, 12, 23, 34, 43}}};
        for (const auto& [mode, expected] : modes) {
            auto conv = make<nn::Conv1d>(1, 1, 2, ConvOptions{.padding = 1, .paddingMode = mode});
            setTensor(*conv, "weight", floats({1, 1, 2}, {10, 1}));
            COMPARE_FLOATS(runLayer(conv, {signal()}), 0, expected);
        }
        QVERIFY_EXCEPTION_THROWN(nn::Conv2d(3, 4, 1, {.groups = 2}), trace::TraceError);
        QVERIFY_EXCEPTION_THROWN(nn::Conv2d(3, 4, 1, {.padding = "most"}), trace::TraceError);
        QCOMPARE(nn::Conv2d(4, 6, 3, {.stride = 2, .padding = 1, .groups = 2, .bias = false}).extraText(),
                 std::string("4, 6, kernel_size=[3, 3], stride=[2, 2], padding=[1, 1], groups=2, bias=False"));
    }

    void transposedConvolutions() {
        auto conv = make<nn::ConvTranspose1d>(1, 1, 2, ConvOptions{.stride = 2});
        setTensor(*conv, "weight", floats({1, 1, 2}, {1, 10}));
        setTensor(*conv, "bias", floats({1}, {0.5F}));
        COMPARE_FLOATS(runLayer(conv, {floats({1, 1, 2}, {1, 2})}), 0, 1.5F, 10.5F, 2.5F, 20.5F);
        // An output size one longer than the least adds a place behind the end.
        const Value five = Value::list({Value::ofInt(5)});
        COMPARE_FLOATS(runLayer(conv, {floats({1, 1, 2}, {1, 2}), five}), 0, 1.5F, 10.5F, 2.5F, 20.5F, 0.5F);
        auto volume = make<nn::ConvTranspose3d>(1, 2, 1, ConvOptions{.bias = false});
        setTensor(*volume, "weight", floats({1, 2, 1, 1, 1}, {2, 3}));
        COMPARE_FLOATS(runLayer(volume, {floats({1, 1, 1, 1, 2}, {1, -1})}), 0, 2, -2, 3, -3);
        QCOMPARE(stateText(nn::ConvTranspose2d(4, 6, 3, {.groups = 2})), std::string("weight [4,3,3,3], bias [6]"));
    }

    void maximaAndTheirPlaces() {
        const LayerResult result = runLayer(make<nn::MaxPool2d>(2, 1, 0, 1, true), {image()});
        COMPARE_FLOATS(result, 0, 5, 6, 8, 9);
        QCOMPARE(result.outputs.size(), 2U);
        QVERIFY(compareTensors(result.outputs[1], Tensor::of<std::int64_t>({1, 1, 2, 2}, {4, 5, 7, 8}), 0, 0).empty());
        COMPARE_FLOATS(runLayer(make<nn::MaxPool1d>(3, 2, 0, 1, false, true), {signal()}), 0, 3, 4);
        COMPARE_FLOATS(runLayer(make<nn::MaxPool3d>(2), {floats({1, 2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8})}), 0,
                       8);  // without a batch
        COMPARE_FLOATS(runLayer(make<nn::MaxPool1d>(2, 2, 0, 1, true), {signal()}), 0, 2, 4);
        COMPARE_FLOATS(runLayer(make<nn::MaxPool3d>(1, 1, 0, 1, true), {floats({1, 1, 1, 1, 2}, {3, 4})}), 0, 3, 4);
    }

    void unpooling() {
        const Tensor places = Tensor::of<std::int64_t>({1, 1, 2}, {1, 3});
        COMPARE_FLOATS(runLayer(make<nn::MaxUnpool1d>(2), {floats({1, 1, 2}, {7, 8}), places}), 0, 0, 7, 0, 8);
        const Value five = Value::list({Value::ofInt(5)});
        COMPARE_FLOATS(runLayer(make<nn::MaxUnpool1d>(2), {floats({1, 1, 2}, {7, 8}), places, five}), 0, 0, 7, 0, 8, 0);
        const Tensor corner = Tensor::of<std::int64_t>({1, 1, 1, 1}, {3});
        COMPARE_FLOATS(runLayer(make<nn::MaxUnpool2d>(2), {floats({1, 1, 1, 1}, {9}), corner}), 0, 0, 0, 0, 9);
        const Tensor last = Tensor::of<std::int64_t>({1, 1, 1, 1, 1}, {7});
        COMPARE_FLOATS(runLayer(make<nn::MaxUnpool3d>(2), {floats({1, 1, 1, 1, 1}, {9}), last}), 0, 0, 0, 0, 0, 0, 0, 0,
                       9);
    }

    void means() {
        COMPARE_FLOATS(runLayer(make<nn::AvgPool1d>(2, 2, 1), {signal()}), 0, 0.5F, 2.5F, 2);
        COMPARE_FLOATS(runLayer(make<nn::AvgPool1d>(2, 2, 1, false, false), {signal()}), 0, 1, 2.5F, 4);
        COMPARE_FLOATS(runLayer(make<nn::AvgPool2d>(2, 1, 0, false, true, 2), {image()}), 0, 6, 8, 12, 14);
        COMPARE_FLOATS(runLayer(make<nn::LPPool1d>(2, 2), {signal()}), 0, std::sqrt(5.0F), 5);
        COMPARE_FLOATS(runLayer(make<nn::LPPool2d>(1, Sizes{1, 3}), {image()}), 0, 6, 15, 24);
        COMPARE_FLOATS(runLayer(make<nn::LPPool3d>(2, 1), {floats({1, 1, 1, 1, 2}, {3, -4})}), 0, 3, 4);
    }

    /// Cells of 3 numbers in 2: [0, 2) and [1, 3).
    void adaptive() {
        COMPARE_FLOATS(runLayer(make<nn::AdaptiveAvgPool1d>(2), {floats({1, 1, 3}, {1, 2, 6})}), 0, 1.5F, 4);
        COMPARE_FLOATS(runLayer(make<nn::AdaptiveAvgPool2d>(2), {image()}), 0, 3, 4, 6, 7);
        const Var keepsHeight = Var::list({Var(), 1});
        COMPARE_FLOATS(runLayer(make<nn::AdaptiveAvgPool2d>(keepsHeight), {image()}), 0, 2, 5, 8);
        COMPARE_FLOATS(runLayer(make<nn::AdaptiveAvgPool3d>(1), {floats({1, 1, 2, 1, 2}, {1, 2, 3, 6})}), 0, 3);
        const LayerResult result = runLayer(make<nn::AdaptiveMaxPool2d>(2, true), {image()});
        COMPARE_FLOATS(result, 0, 5, 6, 8, 9);
        QVERIFY(compareTensors(result.outputs[1], Tensor::of<std::int64_t>({1, 1, 2, 2}, {4, 5, 7, 8}), 0, 0).empty());
        COMPARE_FLOATS(runLayer(make<nn::AdaptiveMaxPool1d>(1), {signal()}), 0, 4);
        COMPARE_FLOATS(runLayer(make<nn::AdaptiveMaxPool3d>(1), {floats({1, 1, 2, 1, 2}, {1, 2, 3, 6})}), 0, 6);
    }

    void pads() {
        COMPARE_FLOATS(runLayer(make<nn::ConstantPad1d>(Sizes{1, 2}, 0.5), {signal()}), 0, 0.5F, 1, 2, 3, 4, 0.5F,
                       0.5F);
        COMPARE_FLOATS(runLayer(make<nn::ZeroPad1d>(Sizes{-1, 1}), {signal()}), 0, 2, 3, 4, 0);
        COMPARE_FLOATS(runLayer(make<nn::ReflectionPad1d>(2), {signal()}), 0, 3, 2, 1, 2, 3, 4, 3, 2);
        COMPARE_FLOATS(runLayer(make<nn::ReplicationPad1d>(Sizes{2, 1}), {signal()}), 0, 1, 1, 1, 2, 3, 4, 4);
        COMPARE_FLOATS(runLayer(make<nn::CircularPad1d>(Sizes{1, 2}), {signal()}), 0, 4, 1, 2, 3, 4, 1, 2);
        // The last axis comes first: one column at the left, one row at the bottom.
        COMPARE_FLOATS(runLayer(make<nn::CircularPad2d>(Sizes{1, 0, 0, 1}), {floats({1, 1, 2, 2}, {1, 2, 3, 4})}), 0, 2,
                       1, 2, 4, 3, 4, 2, 1, 2);
        COMPARE_FLOATS(runLayer(make<nn::ReplicationPad3d>(Sizes{0, 0, 0, 0, 1, 0}), {floats({1, 1, 2, 1, 1}, {5, 6})}),
                       0, 5, 5, 6);
        COMPARE_FLOATS(runLayer(make<nn::ReflectionPad3d>(Sizes{0, 0, 0, 0, 0, 1}), {floats({1, 1, 2, 1, 1}, {5, 6})}),
                       0, 5, 6, 5);
        COMPARE_FLOATS(runLayer(make<nn::ZeroPad3d>(Sizes{0, 0, 0, 0, 0, 1}), {floats({1, 1, 1, 1, 1}, {5})}), 0, 5, 0);
    }

    void folds() {
        const LayerResult columns = runLayer(make<nn::Unfold>(2), {image()});
        COMPARE_FLOATS(columns, 0, 1, 2, 4, 5, 2, 3, 5, 6, 4, 5, 7, 8, 5, 6, 8, 9);
        QCOMPARE(columns.outputs[0].shape(), (tensor::Shape{1, 4, 4}));
        // Where patches overlap they add up: corners once, edges twice, the middle four times.
        COMPARE_FLOATS(runLayer(make<nn::Fold>(3, 2), {columns.outputs[0]}), 0, 1, 4, 3, 8, 20, 12, 7, 16, 9);
    }

    void resampling() {
        const auto nearest = make<nn::Upsample>(nn::UpsampleOptions{.scaleFactor = 2});
        COMPARE_FLOATS(runLayer(nearest, {floats({1, 1, 2}, {1, 2})}), 0, 1, 1, 2, 2);
        COMPARE_FLOATS(runLayer(nearest, {floats({1, 1, 1, 2}, {1, 2})}), 0, 1, 1, 2, 2, 1, 1, 2, 2);
        COMPARE_FLOATS(runLayer(nearest, {floats({1, 1, 1, 1, 1}, {3})}), 0, 3, 3, 3, 3, 3, 3, 3, 3);
        COMPARE_FLOATS(
            runLayer(make<nn::Upsample>(nn::UpsampleOptions{.size = nn::Ints{1, 3}}), {floats({1, 1, 1, 2}, {1, 2})}),
            0, 1, 1, 2);
        // Reads at -1/4, 1/4, 3/4, 5/4 of the two numbers; held at the edges.
        COMPARE_FLOATS(runLayer(make<nn::Upsample>(nn::UpsampleOptions{.scaleFactor = 2, .mode = "linear"}),
                                {floats({1, 1, 2}, {0, 4})}),
                       0, 0, 1, 3, 4);
        COMPARE_FLOATS(runLayer(make<nn::UpsamplingBilinear2d>(nn::Ints{1, 3}), {floats({1, 1, 1, 2}, {0, 4})}), 0, 0,
                       2, 4);
        COMPARE_FLOATS(runLayer(make<nn::UpsamplingNearest2d>(Var(), 2), {floats({1, 1, 1, 1}, {5})}), 0, 5, 5, 5, 5);
        COMPARE_FLOATS(runLayer(make<nn::Upsample>(nn::UpsampleOptions{.size = 1, .mode = "area"}),
                                {floats({1, 1, 4}, {1, 2, 3, 6})}),
                       0, 3);
    }

    void shuffles() {
        const Tensor x = floats({1, 4, 1, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
        const LayerResult wide = runLayer(make<nn::PixelShuffle>(2), {x});
        COMPARE_FLOATS(wide, 0, 1, 3, 2, 4, 5, 7, 6, 8);
        COMPARE_FLOATS(runLayer(make<nn::PixelUnshuffle>(2), {wide.outputs[0]}), 0, 1, 2, 3, 4, 5, 6, 7, 8);
        COMPARE_FLOATS(runLayer(make<nn::ChannelShuffle>(2), {floats({1, 4, 1, 1}, {1, 2, 3, 4})}), 0, 1, 3, 2, 4);
    }

    void flattening() {
        const LayerResult flat = runLayer(make<nn::Flatten>(), {ramp({2, 3, 4})});
        QVERIFY2(flat.problem.empty(), flat.problem.c_str());
        QCOMPARE(flat.outputs[0].shape(), (tensor::Shape{2, 12}));
        const LayerResult apart = runLayer(make<nn::Unflatten>(1, nn::Ints{3, 4}), {flat.outputs[0]});
        QVERIFY2(apart.problem.empty(), apart.problem.c_str());
        QCOMPARE(apart.outputs[0].shape(), (tensor::Shape{2, 3, 4}));
    }

    void parametersInContainers() {
        nn::ParameterList list({floats({2}, {1, 2}), floats({1}, {3})});
        QCOMPARE(stateText(list), std::string("0 [2], 1 [1]"));
        QCOMPARE(list[1].value().toDouble(0), 3.0);
        nn::ParameterDict dict({{"scale", floats({2}, {1, 2})}});
        QCOMPARE(stateText(dict), std::string("scale [2]"));
        QCOMPARE(dict["scale"].value().numel(), 2);
        QVERIFY_EXCEPTION_THROWN(dict["shift"], trace::TraceError);
    }
};

QTEST_GUILESS_MAIN(TestNnSpatial)

}  // namespace tst_nn_spatial

#include "tst_nn_spatial.moc"
