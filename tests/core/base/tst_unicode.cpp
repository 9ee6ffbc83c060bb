// UTF-8 and the case of letters. Expected values: RFC 3629, section 7, and UnicodeData.txt (Unicode 14).

#include <QtTest>

#include "core/base/unicode.h"

namespace tst_unicode {

using namespace sonde;
using base::CaseRules;
using base::CodePoint;

class TestUnicode : public QObject {
    Q_OBJECT

  private slots:
    void decodesTheExamplesOfRfc3629_data() {
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<QList<uint>>("values");
        QTest::newRow("A≢Α.") << QByteArray("\x41\xE2\x89\xA2\xCE\x91\x2E") << QList<uint>{0x41, 0x2262, 0x391, 0x2E};
        QTest::newRow("Korean") << QByteArray("\xED\x95\x9C\xEA\xB5\xAD\xEC\x96\xB4")
                                << QList<uint>{0xD55C, 0xAD6D, 0xC5B4};
        QTest::newRow("Japanese") << QByteArray("\xE6\x97\xA5\xE6\x9C\xAC\xE8\xAA\x9E")
                                  << QList<uint>{0x65E5, 0x672C, 0x8A9E};
        QTest::newRow("four bytes") << QByteArray("\xEF\xBB\xBF\xF0\xA3\x8E\xB4") << QList<uint>{0xFEFF, 0x233B4};
        QTest::newRow("NUL") << QByteArray("\0a", 2) << QList<uint>{0, 0x61};
    }
    void decodesTheExamplesOfRfc3629() {
        QFETCH(QByteArray, text);
        QFETCH(QList<uint>, values);
        const std::u32string decoded = base::codePoints(text.toStdString());
        QVERIFY(std::ranges::equal(decoded, values));
        std::string written;
        for (const char32_t c : decoded) base::appendUtf8(written, c);
        QCOMPARE(QByteArray::fromStdString(written), text);
    }

    /// Bytes that begin no code point: alone, cut off, longer than needed, surrogates, above U+10FFFF.
    void invalidBytesAreToldByteByByte_data() {
        QTest::addColumn<QByteArray>("text");
        for (const char* text : {"\x80", "\xBF\x80", "\xC3", "\xE2\x82", "\xF0\x9F\x98", "\xC0\xAF", "\xE0\x80\xAF",
                                 "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xF8\x88\x80\x80\x80", "\xFF\xFE"})
            QTest::newRow(QByteArray(text).toHex()) << QByteArray(text);
    }
    void invalidBytesAreToldByteByByte() {
        QFETCH(QByteArray, text);
        const CodePoint first = base::firstCodePoint(text.toStdString());
        QVERIFY(!first.valid && first.bytes == 1 && first.value == 0xFFFD);
        const std::u32string all = base::codePoints(text.toStdString() + 'x');
        QCOMPARE(all.size(), static_cast<std::size_t>(text.size()) + 1);
        for (qsizetype i = 0; i < text.size(); ++i)
            QCOMPARE(uint{all[static_cast<std::size_t>(i)]}, 0xDC00u + static_cast<unsigned char>(text[i]));
        QCOMPARE(base::upperCase(text.toStdString() + 'x'), text.toStdString() + 'X');
    }

    void whatIsNoCharacterIsWrittenAsReplacement() {
        for (const char32_t value : {char32_t{0xD800}, char32_t{0xDFFF}, char32_t{0x110000}, char32_t{0xFFFFFFFF}}) {
            std::string text;
            base::appendUtf8(text, value);
            QCOMPARE(text, std::string("\xEF\xBF\xBD"));
        }
    }

    void caseIsMappedPointByPoint_data() {
        QTest::addColumn<QString>("lower");
        QTest::addColumn<QString>("upper");
        const auto row = [](const char* lower, const char* upper) {
            QTest::newRow(lower) << QString::fromUtf8(lower) << QString::fromUtf8(upper);
        };
        row("conv2d_relu", "CONV2D_RELU");
        row("école élémentaire", "ÉCOLE ÉLÉMENTAIRE");
        row("понедельник ђ", "ПОНЕДЕЛЬНИК Ђ");
        row("αβγδώ", "ΑΒΓΔΏ");
        row("łąž", "ŁĄŽ");
        row("ա", "Ա");    // Armenian
        row("ა", "Ა");  // Georgian: two blocks
        row("𐐨", "𐐀");    // Deseret: four bytes
        row("ⱥ", "Ⱥ");    // three bytes against two
        row("中文 123", "中文 123");
    }
    void caseIsMappedPointByPoint() {
        QFETCH(QString, lower);
        QFETCH(QString, upper);
        QCOMPARE(QString::fromStdString(base::upperCase(lower.toStdString())), upper);
        QCOMPARE(QString::fromStdString(base::lowerCase(upper.toStdString())), lower);
        QCOMPARE(base::foldCase(lower.toStdString()), base::foldCase(upper.toStdString()));
    }

    void casesWithoutPartnersStay() {
        QCOMPARE(QString::fromStdString(base::upperCase("grüße ﬁ")), QStringLiteral("GRÜßE ﬁ"));
        QCOMPARE(QString::fromStdString(base::lowerCase("ẞ İ")), QStringLiteral("ß i"));
        QCOMPARE(base::foldCase("ΟΔΟΣ"), base::foldCase("οδος"));  // the last letter is another one than in the middle
        QVERIFY(base::foldCase("ß") != base::foldCase("ss"));
    }

    void turkishHasTwoLettersI() {
        QCOMPARE(QString::fromStdString(base::upperCase("ısı iyi", CaseRules::Turkic)), QStringLiteral("ISI İYİ"));
        QCOMPARE(QString::fromStdString(base::lowerCase("ISI İYİ", CaseRules::Turkic)), QStringLiteral("ısı iyi"));
        QCOMPARE(base::upperCase("iyi"), std::string("IYI"));
    }

    /// The process' locale changes nothing (a window sets it from the environment).
    void localeDoesNotMatter() {
        const QByteArray before = setlocale(LC_ALL, nullptr);
        for (const char* locale : {"tr_TR.UTF-8", "C", "C.UTF-8"}) {
            setlocale(LC_ALL, locale);
            QCOMPARE(base::lowerCase("SIGMOID"), std::string("sigmoid"));
        }
        setlocale(LC_ALL, before);
    }

    void cutsBetweenCodePoints() {
        const std::string text = "aé€😀";  // 1 + 2 + 3 + 4 bytes
        const std::vector<std::size_t> prefixes{0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 10};
        const std::vector<std::size_t> suffixes{0, 0, 0, 0, 4, 4, 4, 7, 7, 9, 10, 10};
        for (std::size_t bytes = 0; bytes < prefixes.size(); ++bytes) {
            QCOMPARE(base::utf8Prefix(text, bytes).size(), prefixes[bytes]);
            QCOMPARE(base::utf8Suffix(text, bytes).size(), suffixes[bytes]);
        }
        QVERIFY(base::utf8Prefix(std::string(50, '\x80'), 20).size() >= 17);  // no UTF-8 at all
    }

    void knowsSpaceAndControl() {
        for (const char32_t c : {U'\t', U'\n', U' ', U'\u0085', U'\u00A0', U'\u2003', U'\u2028', U'\u3000'})
            QVERIFY(base::isSpace(c));
        for (const char32_t c : {U'a', U'\u200B', U'\uFEFF', U'\u0000'}) QVERIFY(!base::isSpace(c));
        for (const char32_t c : {U'\u0000', U'\n', U'\u007F', U'\u0090'}) QVERIFY(base::isControl(c));
        for (const char32_t c : {U' ', U'\u00A0', U'é', U'\u202E'}) QVERIFY(!base::isControl(c));
    }
};

QTEST_APPLESS_MAIN(TestUnicode)

}  // namespace tst_unicode

#include "tst_unicode.moc"
