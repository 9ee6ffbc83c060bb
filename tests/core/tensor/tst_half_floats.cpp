// float16 and bfloat16 against values that this file makes by the definition of the formats (IEEE 754-2019, 3.4
// and 4.3.1; bfloat16 is the upper half of a float32): every one of the 65,536 numbers, and every rounding between two
// neighbours.

#include <QtTest>

#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "core/tensor/half_floats.h"
#include "core/tensor/tensor.h"

namespace tst_half_floats {

using namespace sonde::tensor;

namespace {

/// A format by its fields: 1 sign bit, `exponentBits`, `mantissaBits`.
struct Format {
    const char* name;
    DType dtype;
    int exponentBits, mantissaBits;
    void (*widen)(const std::uint16_t*, float*, std::size_t);
    void (*round)(const float*, std::uint16_t*, std::size_t);
    float (*widenOne)(std::uint16_t);
    std::uint16_t (*roundOne)(float);

    int bias() const { return (1 << (exponentBits - 1)) - 1; }
    std::uint16_t infinity() const { return static_cast<std::uint16_t>(((1 << exponentBits) - 1) << mantissaBits); }

    /// The number by the definition; bits below infinity().
    double valueOf(std::uint16_t bits) const {
        const int exponent = bits >> mantissaBits, mantissa = bits & ((1 << mantissaBits) - 1);
        if (exponent == 0) return std::ldexp(mantissa, 1 - bias() - mantissaBits);
        return std::ldexp(mantissa + (1 << mantissaBits), exponent - bias() - mantissaBits);
    }
    /// What the number is as a float32; the payload of a NaN keeps its place below the point.
    std::uint32_t floatBits(std::uint16_t bits) const {
        const auto sign = static_cast<std::uint32_t>(bits & 0x8000) << 16;
        const auto magnitude = static_cast<std::uint16_t>(bits & 0x7fff);
        if (magnitude >= infinity())
            return sign | 0x7f800000 | static_cast<std::uint32_t>(magnitude - infinity()) << (23 - mantissaBits);
        return sign | std::bit_cast<std::uint32_t>(static_cast<float>(valueOf(magnitude)));
    }
    std::uint16_t quietBit() const { return static_cast<std::uint16_t>(1 << (mantissaBits - 1)); }
};

const Format kFormats[] = {
    {"float16", DType::Float16, 5, 10, halfToFloat, floatToHalf, halfToFloat, floatToHalf},
    {"bfloat16", DType::BFloat16, 8, 7, bfloat16ToFloat, floatToBFloat16,
     [](std::uint16_t bits) {
         BFloat16 value;
         value.bits = bits;
         return static_cast<float>(value);
     },
     floatToBFloat16},
};

/// Floats with the result that rounding to nearest, ties to even, must have.
struct Roundings {
    std::vector<float> values;
    std::vector<std::uint16_t> wanted;

    void add(double magnitude, std::uint16_t bits) {
        for (int sign : {0, 1}) {
            values.push_back(static_cast<float>(sign ? -magnitude : magnitude));
            wanted.push_back(static_cast<std::uint16_t>(bits | sign << 15));
        }
    }
};

Roundings roundingsOf(const Format& format) {
    Roundings all;
    for (std::uint16_t bits = 0; bits < format.infinity(); ++bits) {
        const double low = format.valueOf(bits);
        // Beyond the largest number the next step decides between it and infinity.
        const double high = bits + 1 < format.infinity()
                                ? format.valueOf(static_cast<std::uint16_t>(bits + 1))
                                : 2 * low - format.valueOf(static_cast<std::uint16_t>(bits - 1));
        const auto middle = static_cast<float>((low + high) / 2);  // exact: one bit more than the format has
        const auto next = static_cast<std::uint16_t>(bits + 1);
        all.add(low, bits);
        all.add(middle, bits % 2 == 0 ? bits : next);
        all.add(std::nextafter(middle, 0.0F), bits);
        all.add(std::nextafter(middle, std::numeric_limits<float>::infinity()), next);
    }
    all.add(std::numeric_limits<double>::infinity(), format.infinity());
    all.add(static_cast<double>(std::numeric_limits<float>::denorm_min()), 0);
    return all;
}

std::string hex(unsigned value) { return QString::number(value, 16).toStdString(); }

}  // namespace

class TestHalfFloats : public QObject {
    Q_OBJECT

  private slots:
    void everyNumberWidens_data() { formats(); }
    void everyNumberWidens() {
        QFETCH(int, index);
        const Format& format = kFormats[index];
        std::vector<std::uint16_t> bits(65536);
        for (std::size_t i = 0; i < bits.size(); ++i) bits[i] = static_cast<std::uint16_t>(i);
        std::vector<float> values(bits.size());
        format.widen(bits.data(), values.data(), bits.size());
        Tensor tensor = Tensor::allocate(format.dtype, Shape{65536}).value();
        std::copy(bits.begin(), bits.end(), reinterpret_cast<std::uint16_t*>(tensor.mutableBytes()));
        const Tensor cast = tensor.cast(DType::Float32).value();
        for (std::size_t i = 0; i < bits.size(); ++i) {
            const std::uint32_t wanted = format.floatBits(bits[i]);
            const std::string where = hex(static_cast<unsigned>(i));
            QVERIFY2(std::bit_cast<std::uint32_t>(values[i]) == wanted, where.c_str());
            QVERIFY2(std::bit_cast<std::uint32_t>(format.widenOne(bits[i])) == wanted, where.c_str());
            QVERIFY2(std::bit_cast<std::uint32_t>(cast.data<float>()[i]) == wanted, where.c_str());
        }
    }

    void everyNumberComesBack_data() { formats(); }
    /// A NaN comes back quiet, with its sign and payload.
    void everyNumberComesBack() {
        QFETCH(int, index);
        const Format& format = kFormats[index];
        for (unsigned i = 0; i < 65536; ++i) {
            const auto bits = static_cast<std::uint16_t>(i);
            const bool nan = (bits & 0x7fff) > format.infinity();
            const auto wanted = static_cast<std::uint16_t>(nan ? bits | format.quietBit() : bits);
            const float value = std::bit_cast<float>(format.floatBits(bits));
            std::uint16_t back = 0;
            format.round(&value, &back, 1);
            QVERIFY2(back == wanted && format.roundOne(value) == wanted, hex(i).c_str());
        }
    }

    void everyTieGoesToEven_data() { formats(); }
    void everyTieGoesToEven() {
        QFETCH(int, index);
        const Format& format = kFormats[index];
        const Roundings all = roundingsOf(format);
        std::vector<std::uint16_t> rounded(all.values.size());
        format.round(all.values.data(), rounded.data(), rounded.size());
        Tensor tensor = Tensor::allocate(DType::Float32, Shape{static_cast<std::int64_t>(rounded.size())}).value();
        std::copy(all.values.begin(), all.values.end(), tensor.mutableData<float>());
        const Tensor cast = tensor.cast(format.dtype).value();
        for (std::size_t i = 0; i < rounded.size(); ++i) {
            const std::string where = hex(std::bit_cast<std::uint32_t>(all.values[i])) + " gives " + hex(rounded[i]) +
                                      ", not " + hex(all.wanted[i]);
            QVERIFY2(rounded[i] == all.wanted[i], where.c_str());
            QVERIFY2(format.roundOne(all.values[i]) == all.wanted[i], where.c_str());
            QVERIFY2(reinterpret_cast<const std::uint16_t*>(cast.bytes())[i] == all.wanted[i], where.c_str());
        }
    }

    void nothingIsWrittenForNothing() {
        halfToFloat(nullptr, nullptr, 0);
        for (const Format& format : kFormats) {
            const Tensor none = Tensor::allocate(format.dtype, Shape{0}).value();
            QCOMPARE(none.cast(DType::Float32).value().numel(), std::int64_t{0});
        }
    }

  private:
    static void formats() {
        QTest::addColumn<int>("index");
        QTest::newRow(kFormats[0].name) << 0;
        QTest::newRow(kFormats[1].name) << 1;
    }
};

QTEST_APPLESS_MAIN(TestHalfFloats)

}  // namespace tst_half_floats

#include "tst_half_floats.moc"
