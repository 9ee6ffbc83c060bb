// Receptive fields: published ones, small networks by hand, and random networks against what a run depends on.

#include <QTemporaryDir>
#include <QtTest>

#include <algorithm>
#include <random>

#include "core/analysis/pixel_map.h"
#include "core/analysis/receptive_field.h"
#include "core/document/document.h"
#include "core/exec/plan.h"
#include "core/exec/recording.h"
#include "core/exec/runner.h"
#include "tests/support/onnx_file.h"

namespace tst_receptive_field {

using namespace sonde;
using namespace sonde::test::onnxfile;
using analysis::AxisReading;
using analysis::FieldSize;
using analysis::PixelMap;
using analysis::ReceptiveFields;

namespace {

constexpr int kFloat = 1;

std::string ones(const std::string& name, const std::vector<std::int64_t>& dims) {
    std::size_t count = 1;
    for (const std::int64_t dim : dims) count *= static_cast<std::size_t>(dim);
    const std::vector<float> values(count, 1.0F);
    return rawTensor(name, kFloat, dims, {reinterpret_cast<const char*>(values.data()), count * sizeof(float)});
}

std::string floats(const std::string& name, const std::vector<float>& values) {
    return rawTensor(name, kFloat, {static_cast<std::int64_t>(values.size())},
                     {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)});
}

/// A chain of layers on x, with one channel and weights of 1: what it depends on is what a run shows.
struct Chain {
    Graph graph;
    std::string last = "x";
    int count = 0;

    std::string name() { return "v" + std::to_string(++count); }
    void add(const std::string& op, std::vector<std::string> inputs, std::vector<std::string> attributes = {}) {
        const std::string result = name();
        inputs.insert(inputs.begin(), last);
        graph.nodes.push_back({op, std::move(inputs), {result}, "", "", std::move(attributes)});
        last = result;
    }
    void window(const std::string& op, const std::vector<std::int64_t>& kernel, std::int64_t stride,
                std::int64_t dilation, std::int64_t padding) {
        const std::size_t axes = kernel.size();
        std::vector<std::string> attributes{intsAttribute("kernel_shape", kernel),
                                            intsAttribute("strides", std::vector<std::int64_t>(axes, stride)),
                                            intsAttribute("pads", std::vector<std::int64_t>(2 * axes, padding))};
        std::vector<std::string> inputs;
        if (op.starts_with("Conv")) {
            attributes.push_back(intsAttribute("dilations", std::vector<std::int64_t>(axes, dilation)));
            std::vector<std::int64_t> dims{1, 1};
            dims.insert(dims.end(), kernel.begin(), kernel.end());
            inputs.push_back("w" + std::to_string(count));
            graph.initializers.push_back(ones(inputs.front(), dims));
        }
        add(op, inputs, attributes);
    }
    void conv(std::int64_t kernel, std::int64_t stride = 1) { window("Conv", {kernel, kernel}, stride, 1, kernel / 2); }
    void pool(std::int64_t kernel, std::int64_t stride) { window("MaxPool", {kernel, kernel}, stride, 1, 0); }
};

std::int64_t largest(const ReceptiveFields& fields, std::size_t axis) {
    return fields.largest(axis).valid() ? fields.of(fields.largest(axis), axis).size : 0;
}

}  // namespace

class TestReceptiveField : public QObject {
    Q_OBJECT

  private slots:
    void publishedFields();
    void residualNetworks_data();
    void residualNetworks();
    void axesAreFollowed();
    void branchesJoin();
    void writesAreSeenLater();
    void writesInPlaceKeepWindows();
    void hostileWindowsAreAll();
    void randomNetworksAreWhatRunsShow();

  private:
    std::shared_ptr<const document::Document> opened(Chain& chain, const std::vector<std::int64_t>& input,
                                                     const std::vector<std::int64_t>& output) {
        chain.graph.inputs = {valueInfo("x", kFloat, input)};
        chain.graph.outputs = {valueInfo(chain.last, kFloat, output)};
        const QString path = m_folder.filePath(QStringLiteral("model%1.onnx").arg(m_count++));
        if (!write(path, model(chain.graph, {}, {opset("", 16)}))) qFatal("cannot write");
        auto document = document::open(path.toStdString(), {});
        if (!document) qFatal("%s", document.error().text().c_str());
        return *document;
    }
    FieldSize ofOutput(Chain& chain, const std::vector<std::int64_t>& input, const std::vector<std::int64_t>& output,
                       std::size_t axis) {
        const auto document = opened(chain, input, output);
        return analysis::receptiveFields(*document->graph).of(document->graph->outputs().front(), axis);
    }

    QTemporaryDir m_folder;
    int m_count = 0;
};

/// Araujo, Norris and Sim, "Computing Receptive Fields of Convolutional Neural Networks" (Distill, 2019), table of
/// networks: alexnet_v2 195, vgg_16 212, both at the last pool.
void TestReceptiveField::publishedFields() {
    Chain vgg;
    for (const int convolutions : {2, 2, 3, 3, 3}) {
        for (int i = 0; i < convolutions; ++i) vgg.conv(3);
        vgg.pool(2, 2);
    }
    QCOMPARE(ofOutput(vgg, {1, 1, 224, 224}, {1, 1, 7, 7}, 2), (FieldSize{FieldSize::Kind::Window, 212}));
    Chain alexnet;
    alexnet.window("Conv", {11, 11}, 4, 1, 0);
    alexnet.pool(3, 2);
    alexnet.conv(5);
    alexnet.pool(3, 2);
    for (int i = 0; i < 3; ++i) alexnet.conv(3);
    alexnet.pool(3, 2);
    QCOMPARE(ofOutput(alexnet, {1, 1, 224, 224}, {1, 1, 5, 5}, 3), (FieldSize{FieldSize::Kind::Window, 195}));
}

/// By r = 1 + Σ (k − 1)·∏ s. ResNet-18: 7/2 and 3/2 give 11 with steps of 4; two blocks of two 3×3 layers add 4·2·4 =
/// 32, then 3·2 pixels less for the first layer with stride 2 … 43, 99, 211, 435. ResNet-50 has one 3×3 layer a block:
/// 35, 91, 203, 427. VGG-11: 4, 10, 30, 70, 150 after its pools.
void TestReceptiveField::residualNetworks_data() {
    QTest::addColumn<qint64>("pixels");
    QTest::newRow("resnet18") << qint64{435};
    QTest::newRow("resnet50") << qint64{427};
    QTest::newRow("vgg11") << qint64{150};
}

void TestReceptiveField::residualNetworks() {
    QFETCH(qint64, pixels);
    const auto document = document::open(std::string("zoo:") + QTest::currentDataTag(), {});
    QVERIFY(document);
    const ReceptiveFields fields = analysis::receptiveFields(*(*document)->graph);
    QCOMPARE(fields.axes().size(), std::size_t{4});
    QCOMPARE(largest(fields, 2), pixels);
    QCOMPARE(largest(fields, 3), pixels);
    const graph::NodeId output = (*document)->graph->outputs().front();
    // Images stay apart; the last layers see all of each.
    QCOMPARE(fields.of(output, 0), (FieldSize{FieldSize::Kind::Window, 1}));
    QCOMPARE(fields.of(output, 2), (FieldSize{FieldSize::Kind::All, 0}));
    QCOMPARE(analysis::fieldText(fields, output, fields.axes()[0].input), std::string("1×all×all×all"));
}

/// [2, 3, 8, 10] through transpositions, reductions and slices.
void TestReceptiveField::axesAreFollowed() {
    Chain chain;
    chain.add("Transpose", {}, {intsAttribute("perm", {0, 2, 3, 1})});  // [2, 8, 10, 3]
    chain.add("ReduceSum", {"axes"}, {intAttribute("keepdims", 0)});    // [2, 10, 3]
    chain.add("Softmax", {}, {intAttribute("axis", 2)});                // all channels
    chain.graph.initializers = {rawTensor("axes", 7, {1}, std::string("\1\0\0\0\0\0\0\0", 8))};
    const auto document = opened(chain, {2, 3, 8, 10}, {2, 10, 3});
    const ReceptiveFields fields = analysis::receptiveFields(*document->graph);
    const graph::NodeId output = document->graph->outputs().front();
    QCOMPARE(analysis::fieldText(fields, output, document->graph->inputs().front()), std::string("1×all×all×1"));
    QCOMPARE(fields.sizeOf(*document->graph, output), std::optional(8.0));  // the height
}

/// A 3×3 layer beside two of them, and beside one with steps of 2, which does not go with it.
void TestReceptiveField::branchesJoin() {
    Chain chain;
    chain.conv(3);
    const std::string once = chain.last;
    chain.conv(5);
    chain.add("Add", {once});
    QCOMPARE(ofOutput(chain, {1, 1, 32, 32}, {1, 1, 32, 32}, 2), (FieldSize{FieldSize::Kind::Window, 7}));
    const PixelMap one = *PixelMap().read(AxisReading::window(3, 1, 1, 1));
    const PixelMap two = *PixelMap().read(AxisReading::window(3, 2, 1, 1));
    QVERIFY(!PixelMap::both(one, two));
    QCOMPARE(PixelMap::both(two, two)->size(), std::int64_t{3});
    QCOMPARE(two.stride(), 2.0);
}

/// `z = 2 x, z[0] = 5` and `y` of columns that are written through a view: what reads z later depends on what was
/// written.
void TestReceptiveField::writesAreSeenLater() {
    for (const char* name : {"zoo:slice_assignment", "zoo:in_place", "zoo:item_assignment"}) {
        const auto document = document::open(name, {});
        QVERIFY(document);
        const graph::InternalGraph& graph = *(*document)->graph;
        const ReceptiveFields fields = analysis::receptiveFields(graph);
        QVERIFY2(fields.sizeOf(graph, graph.outputs().front()), name);
    }
}

/// The archive writes its ReLUs in place; the ONNX file of the same network writes nothing. 100 is what sets of pixels
/// give that are carried through its layers in Python: double 3×3 convolutions, pools, and enlargements by transposed
/// convolutions 2/2 and a linear one.
void TestReceptiveField::writesInPlaceKeepWindows() {
    for (const char* name : {"unet_small.trace.pt", "unet_small.onnx"}) {
        const auto document = document::open(std::string(SONDE_TEST_DATA "/models/") + name, {});
        QVERIFY(document);
        const ReceptiveFields fields = analysis::receptiveFields(*(*document)->graph);
        QCOMPARE(fields.of((*document)->graph->outputs().front(), 2), (FieldSize{FieldSize::Kind::Window, 100}));
    }
}

void TestReceptiveField::hostileWindowsAreAll() {
    constexpr std::int64_t kHuge = std::int64_t{1} << 62;
    for (const AxisReading& reading :
         {AxisReading::window(kHuge, kHuge, kHuge, -kHuge), AxisReading::transposed(3, kHuge, 1, 0),
          AxisReading::enlarged(kHuge, 1), AxisReading::window(3, 0, 1, 0), AxisReading::window(3, -1, 1, 0)})
        QVERIFY(!PixelMap().read(reading));
    std::optional<PixelMap> map = PixelMap();
    for (int i = 0; i < 100 && map; ++i) map = map->read(AxisReading::window(1000, 1000, 1, 0));
    QVERIFY(!map);
}

/// Every layer has weights of 1, and the batch is one picture with a single 1 for each pixel: a result that is not 0
/// depends on it.
void TestReceptiveField::randomNetworksAreWhatRunsShow() {
    constexpr std::int64_t kPixels = 96;
    std::mt19937 random(7);
    const auto pick = [&random](std::int64_t from, std::int64_t to) {
        return from + static_cast<std::int64_t>(random() % static_cast<unsigned>(to - from + 1));
    };
    for (int round = 0; round < 40; ++round) {
        Chain chain;
        for (std::int64_t layer = pick(1, 5); layer > 0; --layer) {
            switch (pick(0, 5)) {
                case 0:
                case 1: chain.window("Conv", {pick(1, 5)}, pick(1, 2), pick(1, 2), pick(0, 2)); break;
                case 2: chain.window("AveragePool", {pick(2, 4)}, pick(1, 3), 1, pick(0, 1)); break;
                case 3: chain.window("ConvTranspose", {pick(1, 4)}, pick(1, 3), pick(1, 3), 0); break;
                case 4: {
                    const std::string before = chain.last;
                    chain.window("Conv", {3}, 1, 1, 1);
                    chain.add("Add", {before});
                    break;
                }
                default: {
                    const std::string scales = "s" + std::to_string(chain.count);
                    chain.graph.initializers.push_back(floats(scales, {1, 1, static_cast<float>(pick(2, 3))}));
                    chain.add("Resize", {"", scales},
                              {stringAttribute("mode", "nearest"),
                               stringAttribute("coordinate_transformation_mode", "asymmetric"),
                               stringAttribute("nearest_mode", "floor")});
                }
            }
        }
        const auto document = opened(chain, {kPixels, 1, kPixels}, {kPixels, 1, -1});
        const ReceptiveFields fields = analysis::receptiveFields(*document->graph);
        const graph::NodeId output = document->graph->outputs().front();
        auto x = *tensor::Tensor::zeros(tensor::DType::Float32, {kPixels, 1, kPixels});
        for (std::int64_t i = 0; i < kPixels; ++i) x.mutableData<float>()[i * kPixels + i] = 1;
        const auto plan = exec::Plan::make(document->graph, {});
        QVERIFY(plan);
        exec::Runner runner(1);
        const exec::Recording run = runner.run(**plan, std::vector<tensor::Value>{x}, {}, {});
        if (run.error) continue;  // nothing is left of the picture
        const tensor::Tensor y = run.outputs.front().tensor();
        const std::int64_t size = y.shape()[2];
        std::int64_t most = 0;
        for (std::int64_t at = 0; at < size; ++at) {
            std::int64_t first = kPixels, last = -1;
            for (std::int64_t pixel = 0; pixel < kPixels; ++pixel) {
                if (y.toDouble(pixel * size + at) == 0) continue;
                first = std::min(first, pixel);
                last = pixel;
            }
            most = std::max(most, last - first + 1);
        }
        const FieldSize found = fields.of(output, 2);
        QCOMPARE(fields.of(output, 0), (FieldSize{FieldSize::Kind::Window, 1}));
        QVERIFY(found.kind == FieldSize::Kind::Window);
        // At the borders a window sees less.
        const bool isExact = found.size <= kPixels / 3;
        QVERIFY2(isExact ? found.size == most : found.size >= most,
                 qPrintable(QStringLiteral("round %1: %2 found, %3 seen").arg(round).arg(found.size).arg(most)));
    }
}

QTEST_APPLESS_MAIN(TestReceptiveField)

}  // namespace tst_receptive_field

#include "tst_receptive_field.moc"
