// How a camera was held: pictures are given as they are seen. Expected pixels were written down by hand from the table
// of orientations in the Exif standard (2.3, tag 274).

#include <QTest>

#include <array>
#include <cstring>
#include <string>

#include "core/io/image/exif.h"

namespace tst_exif {

using namespace sonde;

class TestExif : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void picturesAreTurned_data();
    void picturesAreTurned();
    void filesTellTheOrientation();
    void damagedFilesTellNothing();

  private:
    static std::span<const std::byte> bytesOf(const std::string& text) {
        return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
    }
    static std::string little(std::uint32_t number, int size) {
        std::string text;
        for (int i = 0; i < size; ++i) text += static_cast<char>(number >> (8 * i));
        return text;
    }
    static std::string big(std::uint32_t number, int size) {
        const std::string text = little(number, size);
        return {text.rbegin(), text.rend()};
    }
    /// Two entries, the second of which is the orientation.
    static std::string tiff(std::uint32_t orientation, bool isLittle) {
        const auto number = [&](std::uint32_t n, int size) { return isLittle ? little(n, size) : big(n, size); };
        const auto entry = [&](std::uint32_t tag, std::uint32_t value) {
            return number(tag, 2) + number(3, 2) + number(1, 4) + number(value, 2) + std::string(2, '\0');
        };
        return (isLittle ? "II" : "MM") + number(42, 2) + number(8, 4) + number(2, 2) + entry(258, 8) +
               entry(274, orientation) + number(0, 4);
    }
    static std::string jpeg(const std::string& exif) {
        const std::string head("Exif\0\0", 6);
        return "\xff\xd8\xff\xe0" + big(4, 2) + "ab" + "\xff\xe1" +
               big(static_cast<std::uint32_t>(2 + head.size() + exif.size()), 2) + head + exif + "\xff\xda" + big(2, 2);
    }
    static std::string png(const std::string& exif) {
        const auto chunk = [](const std::string& name, const std::string& content) {
            return big(static_cast<std::uint32_t>(content.size()), 4) + name + content + std::string(4, 'c');
        };
        return "\x89PNG\r\n\x1a\n" + chunk("IHDR", std::string(13, 'h')) + chunk("eXIf", exif) + chunk("IEND", "");
    }
};

void TestExif::picturesAreTurned_data() {
    QTest::addColumn<int>("orientation");
    QTest::addColumn<QByteArray>("seen");
    QTest::addColumn<int>("width");
    // The file has the rows "abc" and "def".
    QTest::newRow("1") << 1 << QByteArray("abcdef") << 3;
    QTest::newRow("2, mirrored") << 2 << QByteArray("cbafed") << 3;
    QTest::newRow("3, upside down") << 3 << QByteArray("fedcba") << 3;
    QTest::newRow("4, upside down and mirrored") << 4 << QByteArray("defabc") << 3;
    QTest::newRow("5, left side is the top") << 5 << QByteArray("adbecf") << 2;
    QTest::newRow("6, turned to the right") << 6 << QByteArray("daebfc") << 2;
    QTest::newRow("7") << 7 << QByteArray("fcebda") << 2;
    QTest::newRow("8, turned to the left") << 8 << QByteArray("cfbead") << 2;
    QTest::newRow("none") << 9 << QByteArray("abcdef") << 3;
}

void TestExif::picturesAreTurned() {
    QFETCH(int, orientation);
    QFETCH(QByteArray, seen);
    QFETCH(int, width);
    tensor::Picture picture{3, 2, {}};
    for (const char c : QByteArray("abcdef"))
        for (int channel = 0; channel < 3; ++channel) picture.rgb.push_back(static_cast<std::uint8_t>(c));
    const tensor::Picture turned = io::oriented(picture, orientation);
    QCOMPARE(turned.width, width);
    QCOMPARE(turned.height, 6 / width);
    QByteArray pixels;
    for (std::size_t i = 0; i < turned.rgb.size(); i += 3) pixels += static_cast<char>(turned.rgb[i]);
    QCOMPARE(pixels, seen);
}

void TestExif::filesTellTheOrientation() {
    for (std::uint32_t orientation = 1; orientation <= 8; ++orientation)
        for (const bool isLittle : {true, false}) {
            QCOMPARE(io::exifOrientation(bytesOf(jpeg(tiff(orientation, isLittle)))), static_cast<int>(orientation));
            QCOMPARE(io::exifOrientation(bytesOf(png(tiff(orientation, isLittle)))), static_cast<int>(orientation));
        }
    const std::string exif = tiff(6, true);
    const std::string webp = "RIFF" + little(100, 4) + "WEBP" + "VP8X" + little(3, 4) + "abc" + std::string(1, '\0') +
                             "EXIF" + little(static_cast<std::uint32_t>(exif.size()), 4) + exif;
    QCOMPARE(io::exifOrientation(bytesOf(webp)), 6);
}

void TestExif::damagedFilesTellNothing() {
    const std::string whole = jpeg(tiff(6, false)), chunks = png(tiff(6, true));
    for (std::size_t size = 0; size <= whole.size(); ++size) {
        const int found = io::exifOrientation(bytesOf(whole.substr(0, size)));
        QVERIFY(found == 1 || found == 6);
    }
    for (std::size_t size = 0; size <= chunks.size(); ++size) {
        const int found = io::exifOrientation(bytesOf(chunks.substr(0, size)));
        QVERIFY(found == 1 || found == 6);
    }
    QCOMPARE(io::exifOrientation(bytesOf(jpeg(tiff(77, true)))), 1);
    QCOMPARE(io::exifOrientation(bytesOf("Exif")), 1);
}

QTEST_GUILESS_MAIN(TestExif)

}  // namespace tst_exif

#include "tst_exif.moc"
