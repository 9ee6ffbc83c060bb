// Pictures against Pillow: tests/data/pictures has files of every format and the pixels that Pillow finds in them.

#include <QDir>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QtTest>

#include "core/ops/registry/registry.h"
#include "core/tensor/picture/picture.h"

namespace tst_picture {

using namespace sonde;
using tensor::Tensor;
using tensor::Value;

class TestPicture : public QObject {
    Q_OBJECT

  private:
    static QByteArray contents(const QString& name) {
        QFile file(QStringLiteral(SONDE_TEST_DATA "/pictures/") + name);
        return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
    }
    static base::Result<tensor::Picture> decode(const QByteArray& bytes) {
        return tensor::decodePicture(
            {reinterpret_cast<const std::byte*>(bytes.data()), static_cast<std::size_t>(bytes.size())});
    }

  private slots:
    void pixelsAreThoseOfPillow_data() {
        QTest::addColumn<QString>("name");
        QTest::addColumn<QJsonArray>("rows");
        const QJsonObject all = QJsonDocument::fromJson(contents("pixels.json")).object();
        QVERIFY(all.size() > 20);
        for (auto it = all.begin(); it != all.end(); ++it)
            QTest::newRow(qPrintable(it.key())) << it.key() << it.value().toArray();
    }
    void pixelsAreThoseOfPillow() {
        QFETCH(QString, name);
        QFETCH(QJsonArray, rows);
        const auto picture = decode(contents(name));
        QVERIFY2(picture.has_value(), picture ? "" : picture.error().text().c_str());
        QCOMPARE(picture->height, static_cast<int>(rows.size()));
        QCOMPARE(picture->width, static_cast<int>(rows[0].toArray().size()));
        std::size_t at = 0;
        for (const auto& row : rows) {
            for (const auto& pixel : row.toArray()) {
                for (const auto& channel : pixel.toArray()) {
                    const int found = picture->rgb[at++], wanted = channel.toInt();
                    QVERIFY2(found == wanted,
                             qPrintable(QString("value %1 is %2 instead of %3").arg(at - 1).arg(found).arg(wanted)));
                }
            }
        }
    }
    /// Cut and changed files are errors or pictures, never a crash.
    void damagedFilesAreErrors() {
        const QStringList names = QDir(QStringLiteral(SONDE_TEST_DATA "/pictures")).entryList(QDir::Files);
        int errors = 0;
        for (const QString& name : names) {
            const QByteArray whole = contents(name);
            for (qsizetype size = 0; size < whole.size(); size += 1 + whole.size() / 60)
                errors += decode(whole.left(size)).has_value() ? 0 : 1;
            for (qsizetype at = 0; at < whole.size(); at += 1 + whole.size() / 60) {
                QByteArray changed = whole;
                changed[at] = static_cast<char>(changed[at] ^ 0x5b);
                errors += decode(changed).has_value() ? 0 : 1;
            }
        }
        QVERIFY(errors > 500);
    }
    void hugeSizesTakeNoMemory() {
        for (const QByteArray& head :
             {QByteArray("P6 1000000 1000000 255\n"), QByteArray("P5\n99999999999999999999 1 255\n"),
              QByteArray("P4 536870912 2\n")}) {
            QVERIFY(!decode(head).has_value());
        }
        // A BMP header of 2^20 by 2^20 pixels.
        QByteArray bitmap(54, '\0');
        bitmap.replace(0, 2, "BM");
        bitmap[10] = 54;
        bitmap[14] = 40;
        bitmap[20] = 16;
        bitmap[24] = 16;
        bitmap[26] = 1;
        bitmap[28] = 24;
        const auto picture = decode(bitmap);
        QVERIFY(!picture.has_value());
        QVERIFY2(picture.error().what.find("too large") != std::string::npos, picture.error().what.c_str());
    }
    void imageDecoderOrdersChannels() {
        const ops::OpDef* op = ops::Registry::all().find("", "ImageDecoder", 20);
        QVERIFY(op);
        const QByteArray file = contents("text.ppm");
        const Value bytes(Tensor::of<std::uint8_t>({file.size()}, std::vector<std::uint8_t>(file.begin(), file.end())));
        base::ThreadPool pool(1);
        ops::RunEnvironment environment;
        environment.pool = &pool;
        const auto call = [&](const char* format) {
            return ops::call(*op, std::span(&bytes, 1), {{"pixel_format", std::string(format)}}, 1, environment, 20);
        };
        const auto bgr = call("BGR");
        QVERIFY2(bgr.has_value(), bgr ? "" : bgr.error().text().c_str());
        QVERIFY(identical(bgr->front().tensor(),
                          Tensor::of<std::uint8_t>({2, 2, 3}, {0, 0, 255, 0, 255, 0, 255, 0, 0, 128, 128, 128})));
        // 0.299, 0.587, 0.114 of 255, rounded.
        const auto grey = call("Grayscale");
        QVERIFY(grey.has_value());
        QVERIFY(identical(grey->front().tensor(), Tensor::of<std::uint8_t>({2, 2, 1}, {76, 150, 29, 128})));
        QVERIFY(!call("CMYK").has_value());
    }
};

QTEST_GUILESS_MAIN(TestPicture)

}  // namespace tst_picture

#include "tst_picture.moc"
