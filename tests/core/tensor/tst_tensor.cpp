#include <QtTest>

#include <cmath>
#include <limits>

#include "core/tensor/tensor.h"

namespace tst_tensor {

using namespace sonde::tensor;

class TestTensor : public QObject {
    Q_OBJECT

  private slots:
    void viewsShareElements() {
        const Tensor x = Tensor::of<float>(Shape{2, 3}, {1, 2, 3, 4, 5, 6});
        const Tensor t = x.transposed(0, 1);
        QCOMPARE(t.shape().text(), std::string("[3,2]"));
        QVERIFY(!t.isContiguous());
        QCOMPARE(t.storage(), x.storage());
        const Tensor packed = t.contiguous().value();
        QCOMPARE(std::vector<float>(packed.span<float>().begin(), packed.span<float>().end()),
                 (std::vector<float>{1, 4, 2, 5, 3, 6}));
        QCOMPARE(t.toDouble(1), 4.0);
        QCOMPARE(x.sliced(1, 2, 2, -2).contiguous().value().toDouble(0), 3.0);
        QCOMPARE(x.selected(0, 1).shape().text(), std::string("[3]"));
        QCOMPARE(x.unsqueezed(1).shape().text(), std::string("[2,1,3]"));
        const Tensor wide = Tensor::of<float>(Shape{3}, {7, 8, 9}).expanded(Shape{2, 3}).value();
        QCOMPARE(wide.contiguous().value().toDouble(4), 8.0);
        QVERIFY(!x.expanded(Shape{3, 3}));
        QVERIFY(!x.reshaped(Shape{4}));
    }

    void emptyAndScalar() {
        const Tensor scalar = Tensor::scalar<std::int64_t>(5);
        QCOMPARE(scalar.rank(), std::size_t{0});
        QCOMPARE(scalar.numel(), std::int64_t{1});
        const Tensor none = Tensor::zeros(DType::Float32, Shape{2, 0, 3}).value();
        QCOMPARE(none.numel(), std::int64_t{0});
        QVERIFY(none.transposed(0, 1).contiguous());
        QVERIFY(identical(none, none.clone().value()));
    }

    void deferredBytesAreMadeOnce() {
        int calls = 0;
        const auto storage = Storage::deferred(8, [&calls](std::byte* bytes) {
                                 ++calls;
                                 bytes[1] = std::byte{7};
                             }).value();
        const Tensor x = Tensor::onStorage(DType::UInt8, Shape{8}, storage);
        const Tensor copy = x;
        QCOMPARE(copy.sizeBytes(), std::size_t{8});
        QCOMPARE(calls, 0);
        QCOMPARE(x.toDouble(1), 7.0);
        QCOMPARE(copy.toDouble(0), 0.0);
        QCOMPARE(calls, 1);
        QVERIFY(storage->writable());
        QCOMPARE(Storage::deferred(64).value()->data()[63], std::byte{0});
        QVERIFY(!Storage::deferred(memoryLimit() + 1));
    }

    void impossibleShapesAreErrors() {
        QVERIFY(!Tensor::allocate(DType::Float32, Shape{-1}));
        QVERIFY(!Tensor::allocate(DType::Float32, Shape{std::int64_t{1} << 40, std::int64_t{1} << 40}));
        QVERIFY(!Tensor::allocate(DType::Float32, Shape{std::int64_t{1} << 60}));
        QVERIFY(!Tensor::allocate(DType::Undefined, Shape{1}));
    }

    /// Values from IEEE 754 binary16 tables: 1.0 = 3c00, 65504 = 7bff, 2^-24 = 0001, 1/3 = 3555.
    void halfPrecision() {
        QCOMPARE(floatToHalf(1.0F), std::uint16_t{0x3c00});
        QCOMPARE(floatToHalf(-2.0F), std::uint16_t{0xc000});
        QCOMPARE(floatToHalf(65504.0F), std::uint16_t{0x7bff});
        QCOMPARE(floatToHalf(65520.0F), std::uint16_t{0x7c00});
        QCOMPARE(floatToHalf(0x1p-24F), std::uint16_t{0x0001});
        QCOMPARE(floatToHalf(0x1p-26F), std::uint16_t{0x0000});
        QCOMPARE(floatToHalf(1.0F / 3.0F), std::uint16_t{0x3555});
        for (int bits = 0; bits < 65536; ++bits) {
            const auto half = static_cast<std::uint16_t>(bits);
            const float value = halfToFloat(half);
            if (std::isnan(value)) QVERIFY(std::isnan(halfToFloat(floatToHalf(value))));
            else QCOMPARE(floatToHalf(value), half);
        }
        QCOMPARE(floatToBFloat16(1.0F), std::uint16_t{0x3f80});
    }

    /// Largest values of the formats: 448, 240, 57344, 57344, 6 (arXiv:2209.05433, arXiv:2206.02915, OCP MX 1.0).
    void oneByteFloats() {
        const struct {
            DType dtype;
            float largest;
            std::uint8_t one;
        } formats[] = {{DType::Float8E4M3FN, 448, 0x38},
                       {DType::Float8E4M3FNUZ, 240, 0x40},
                       {DType::Float8E5M2, 57344, 0x3c},
                       {DType::Float8E5M2FNUZ, 57344, 0x40},
                       {DType::Float4E2M1, 6, 0x02}};
        for (const auto& format : formats) {
            QCOMPARE(floatToNarrow(format.dtype, 1.0F), format.one);
            QCOMPARE(narrowToFloat(format.dtype, floatToNarrow(format.dtype, 1e9F)), format.largest);
            QCOMPARE(narrowToFloat(format.dtype, floatToNarrow(format.dtype, -1e9F)), -format.largest);
            for (int bits = 0; bits < (format.dtype == DType::Float4E2M1 ? 16 : 256); ++bits) {
                const float value = narrowToFloat(format.dtype, static_cast<std::uint8_t>(bits));
                if (std::isfinite(value))
                    QCOMPARE(narrowToFloat(format.dtype, floatToNarrow(format.dtype, value)), value);
            }
        }
        QVERIFY(std::isnan(narrowToFloat(DType::Float8E4M3FN, 0x7f)));
        QVERIFY(std::isinf(narrowToFloat(DType::Float8E5M2, 0x7c)));
        QCOMPARE(narrowToFloat(DType::Float8E8M0, 127), 1.0F);
    }

    void conversions() {
        const Tensor x =
            Tensor::of<float>(Shape{5}, {-1.9F, 0.0F, 2.5F, 300.7F, std::numeric_limits<float>::quiet_NaN()});
        QCOMPARE(x.cast(DType::Int32)->toInt64(0), std::int64_t{-1});
        QCOMPARE(x.cast(DType::Int32)->toInt64(3), std::int64_t{300});
        QCOMPARE(x.cast(DType::Bool)->elementText(1), std::string("false"));
        QCOMPARE(x.cast(DType::Bool)->elementText(4), std::string("true"));
        QCOMPARE(x.cast(DType::String)->strings()[2], std::string("2.5"));
        const Tensor text = Tensor::ofStrings(Shape{3}, {"3.25", "-INF", "nan"});
        QCOMPARE(text.cast(DType::Float64)->toDouble(0), 3.25);
        QVERIFY(std::isinf(text.cast(DType::Float64)->toDouble(1)));
        QVERIFY(!Tensor::ofStrings(Shape{1}, {"three"}).cast(DType::Float32));
        const Tensor tiny = Tensor::of<std::int32_t>(Shape{2}, {9, -3}).cast(DType::Int4).value();
        QCOMPARE(tiny.toInt64(0), std::int64_t{-7});
        QCOMPARE(tiny.toInt64(1), std::int64_t{-3});
        QCOMPARE(Tensor::of<std::uint64_t>(Shape{1}, {~std::uint64_t{0}}).cast(DType::Float64)->toDouble(0),
                 18446744073709551616.0);
    }
};

QTEST_APPLESS_MAIN(TestTensor)

}  // namespace tst_tensor

#include "tst_tensor.moc"
