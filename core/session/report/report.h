#pragma once

#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace sonde::session {

// What a report says, apart from how it is written: HTML and PDF are made of the same blocks.

struct ReportText {
    std::string text;
};

struct ReportTable {
    struct Column {
        std::string title;
        bool isNumber = false;  ///< to the right
    };
    std::string title;  ///< may be empty
    std::vector<Column> columns;
    std::vector<std::vector<std::string>> rows;
    std::string note;           ///< below it: "and 12 more"; may be empty
    bool areRowsNamed = false;  ///< the first cell of each row says what the others are of
    /// Of several pages: written smaller on paper.
    bool isLong() const { return rows.size() > 100; }
};

/// Bars, longest first.
struct ReportChart {
    struct Bar {
        std::string label;
        double value = 0;  ///< not negative
        std::string text;  ///< the value as it is written
    };
    std::string title;
    std::vector<Bar> bars;
    std::string note;
};

struct ReportPicture {
    std::string title;
    std::string svg;  ///< an <svg> element, with or without what may stand before it in a file
};

struct ReportFinding {
    std::string severity, id, confidence, places, message, advice;
    std::string accepted;  ///< the reason; empty: it is not accepted
    /// Of several equal ones: each with its place and its message.
    std::vector<std::pair<std::string, std::string>> each;
};
struct ReportFindings {
    std::vector<ReportFinding> findings;
    std::string note;
};

using ReportBlock = std::variant<ReportText, ReportTable, ReportChart, ReportPicture, ReportFindings>;

struct ReportSection {
    std::string id;  ///< for links: letters and '-'
    std::string title;
    std::vector<ReportBlock> blocks;
};

struct Report {
    std::string title, subtitle;
    std::string source;  ///< "SHA-256 " of the file, for the head of each page; empty: it is of no file
    std::string maker;   ///< "Sonde 1.2"
    std::vector<ReportSection> sections;
};

/// One HTML file without scripts, which loads nothing: styles and pictures are in it. It is XML too. Light or dark as
/// the reader's system is, and light on paper. Tables have captions and heads that screen readers tell. Texts are
/// escaped; control characters are made visible. The same report gives the same bytes.
std::string reportHtml(const Report& report);

}  // namespace sonde::session
