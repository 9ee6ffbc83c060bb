// Elements as other numbers. Expected are numbers computed by hand from the definitions of complex numbers and of
// ONNX's DequantizeLinear.

#include <QTest>

#include <cmath>
#include <complex>
#include <numbers>

#include "core/analysis/element_readings.h"
#include "tests/bench/layout_graphs.h"

namespace tst_element_readings {

using namespace sonde;
using namespace layout_graphs;
using analysis::Quantization;
using analysis::readElements;
using tensor::DType;
using tensor::Shape;
using tensor::Tensor;
using tensor::Value;

namespace {

std::vector<double> numbers(const base::Result<Tensor>& made) {
    std::vector<double> all;
    if (!made) return all;
    for (std::int64_t i = 0; i < made->numel(); ++i) all.push_back(made->toDouble(i));
    return all;
}

}  // namespace

class TestElementReadings : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void partsOfComplexNumbers() {
        using C = std::complex<float>;
        const Tensor z = Tensor::of<C>(Shape{2, 2}, {C(3, -4), C(-1, 0), C(0, 2), C(0, 0)});
        QCOMPARE(numbers(readElements(z, "magnitude", nullptr)), (std::vector<double>{5, 1, 2, 0}));
        QCOMPARE(numbers(readElements(z, "real", nullptr)), (std::vector<double>{3, -1, 0, 0}));
        QCOMPARE(numbers(readElements(z, "imaginary", nullptr)), (std::vector<double>{-4, 0, 2, 0}));
        const auto phase = numbers(readElements(z, "phase", nullptr));
        QCOMPARE(phase.size(), std::size_t{4});
        QVERIFY(std::abs(phase[0] + 0.9272952) < 1e-6);  // −atan(4 / 3)
        QVERIFY(std::abs(phase[1] - std::numbers::pi) < 1e-6);
        QVERIFY(std::abs(phase[2] - std::numbers::pi / 2) < 1e-6);
        QCOMPARE(phase[3], 0.0);
        // Views, and numbers that are none.
        QCOMPARE(numbers(readElements(z.transposed(0, 1), "imaginary", nullptr)), (std::vector<double>{-4, 2, 0, 0}));
        QCOMPARE(numbers(readElements(z.transposed(0, 1), "magnitude", nullptr)), (std::vector<double>{5, 2, 1, 0}));
        const auto bad = readElements(Tensor::of<std::complex<double>>(Shape{1}, {{NAN, 1}}), "magnitude", nullptr);
        QVERIFY(bad && bad->dtype() == DType::Float64 && std::isnan(bad->toDouble(0)));
        const auto none = readElements(*Tensor::zeros(DType::Complex64, Shape{0, 3}), "phase", nullptr);
        QVERIFY(none && none->numel() == 0);
    }

    void realValuesOfQuantisedTensors() {
        const Tensor q = Tensor::of<std::uint8_t>(Shape{2, 2}, {0, 128, 130, 255});
        const Quantization one{Tensor::scalar<float>(0.5F), Tensor::scalar<std::uint8_t>(128), std::nullopt, 0};
        QCOMPARE(numbers(readElements(q, "real-values", &one)), (std::vector<double>{-64, 0, 1, 63.5}));
        QCOMPARE(QString::fromStdString(analysis::quantizationText(one)), QString("scale 0.5, zero point 128"));
        // A scale for each column, and without zero points.
        const Quantization columns{Tensor::of<float>(Shape{2}, {1, 0.25F}), {}, -1, 0};
        QCOMPARE(numbers(readElements(q, "real-values", &columns)), (std::vector<double>{0, 32, 130, 63.75}));
        // By blocks of 2 along the columns: rows have two scales each.
        const Tensor wide = Tensor::of<std::int8_t>(Shape{2, 4}, {1, 2, 3, 4, -1, -2, -3, -4});
        const Quantization blocks{Tensor::of<float>(Shape{2, 2}, {1, 10, 2, 20}), {}, 1, 2};
        QCOMPARE(numbers(readElements(wide, "real-values", &blocks)),
                 (std::vector<double>{1, 2, 30, 40, -2, -4, -60, -80}));
    }

    void whatDoesNotFitIsRefused() {
        const Tensor q = Tensor::of<std::int8_t>(Shape{2, 2}, {1, 2, 3, 4});
        const Quantization odd{Tensor::of<float>(Shape{3}, {1, 2, 3}), {}, 0, 0};
        const auto made = readElements(q, "real-values", &odd);
        QVERIFY(!made);
        QCOMPARE(made.error().what, std::string("the scales float32[3] do not fit the quantised tensor int8[2,2]"));
        QVERIFY(!readElements(q, "real-values", nullptr));
        QVERIFY(!readElements(q, "phase", nullptr));
        QVERIFY(!readElements(q, "bytes", nullptr));
        QVERIFY(analysis::readingsOf(q, nullptr).empty());
        QVERIFY(analysis::readingsOf({}, nullptr).empty());
        // Larger than is made: nothing is allocated. One element stands for all.
        const Tensor huge = *Tensor::zeros(DType::Complex64, Shape{1})->expanded(Shape{std::int64_t{1} << 40});
        QVERIFY(!readElements(huge, "magnitude", nullptr));
        std::stop_source stop;
        stop.request_stop();
        QVERIFY(!readElements(*Tensor::zeros(DType::Complex64, Shape{8}), "magnitude", nullptr, stop.get_token()));
    }

    /// x -> QuantizeLinear -> q -> DequantizeLinear -> y: the scale of q is named after it by both.
    void scalesAreFoundInTheGraph() {
        GraphMaker m;
        const NodeId x = m.input("x"), scale = m.input("s"), zero = m.input("z"), other = m.input("o");
        const NodeId q = m.op("QuantizeLinear", {x, scale, zero}, "q");
        const NodeId y = m.op("DequantizeLinear", {other, scale, zero}, "y");
        const NodeId plain = m.op("Relu", {q}, "r");
        for (const NodeId node : {q, y, plain}) m.graph().mutableExpr(m.graph().node(node).producer).op.version = 13;
        const auto graph = m.done({y, plain});
        const Value half(Tensor::scalar<float>(0.5F)), three(Tensor::scalar<std::uint8_t>(3));
        const auto valueOf = [&](NodeId of) { return of == scale ? &half : of == zero ? &three : nullptr; };
        for (const NodeId node : {q, other}) {
            const auto found = analysis::quantizationOf(*graph, node, valueOf);
            QVERIFY(found.has_value());
            QCOMPARE(found->scale.toDouble(0), 0.5);
            QCOMPARE(found->zeroPoint.toDouble(0), 3.0);
            QCOMPARE(found->axis, std::optional<std::int64_t>(1));
        }
        // A zero point without a number, as a broken file may have.
        const Value empty(*Tensor::zeros(DType::UInt8, Shape{0}));
        QVERIFY(!analysis::quantizationOf(*graph, q, [&](NodeId of) {
            return of == scale ? &half : of == zero ? &empty : nullptr;
        }));
        QVERIFY(!analysis::quantizationOf(*graph, x, valueOf));
        QVERIFY(!analysis::quantizationOf(*graph, plain, valueOf));
        QVERIFY(!analysis::quantizationOf(*graph, q, [](NodeId) -> const Value* { return nullptr; }));
    }
};

QTEST_GUILESS_MAIN(TestElementReadings)

}  // namespace tst_element_readings

#include "tst_element_readings.moc"
