# functions.awk — makes the manual's section 3 from include/pat.h: a page for each group of functions ("/* ---- Title ---- */"),
# named by the first one, and for each other function a page that leads there. What the header says is what the pages say.
# awk -v out=DIRECTORY -v version=0.2.0 -f functions.awk pat.h
function roff(text) {
    gsub(/\\/, "\\e", text)
    gsub(/-/, "\\-", text)
    return text ~ /^[.']/ ? "\\&" text : text
}
function capital(text) { return toupper(substr(text, 1, 1)) substr(text, 2) }
# A paragraph of the header's first comment, without the words that introduce it.
function section(title, text) { return ".SH " title "\n" roff(capital(text)) "\n" }
function finish_page(    i, page, other) {
    if (num > 0) {
        page = out "/" name[1] ".3"
        printf ".\\\" Made from pat.h by functions.awk.\n.TH %s 3 \"\" \"PAT %s\" \"Arrival-aware collectives\"\n.SH NAME\n", name[1], version > page
        for (i = 1; i <= num; i++) printf("%s%s", (i > 1 ? ", " : ""), name[i]) > page
        printf " \\- %s\n.SH SYNOPSIS\n.nf\n.B #include <pat.h>\n.PP\n", roff(tolower(substr(title, 1, 1)) substr(title, 2)) > page
        for (i = 1; i <= num; i++) printf "%s\n", roff(prototype[i]) > page
        printf ".fi\n.SH DESCRIPTION\n%s", preface > page
        for (i = 1; i <= num; i++) printf ".SS %s\n%s", name[i], about[i] > page
        printf "%s%s", errors, threads > page
        printf ".SH SEE ALSO\n.BR pat (7)\n" > page
        close(page)
        for (i = 2; i <= num; i++) {
            other = out "/" name[i] ".3"
            printf ".so man3/%s.3\n", name[1] > other
            close(other)
        }
    }
    num = 0
    preface = comment = code = ""
}
# The text of a comment as paragraphs; words of the header's own are told apart by nothing but their spelling.
function paragraphs(text,    n, lines, i, result, is_open) {
    n = split(text, lines, "\n")
    is_open = 0
    for (i = 1; i <= n; i++) {
        if (lines[i] ~ /^ *$/) { is_open = 0; continue }
        if (!is_open && result != "") result = result ".PP\n"
        is_open = 1
        result = result roff(lines[i]) "\n"
    }
    return result
}
FNR == 1 { first = 1 }
/^\/\* ---- .* -+ \*\/$/ {
    finish_page()
    title = $0
    sub(/^\/\* -+ /, "", title)
    sub(/ -+ \*\/$/, "", title)
    next
}
!inside && /^\/\*/ {
    if (comment != "" && code == "") { preface = preface (preface != "" ? ".PP\n" : "") paragraphs(comment); comment = "" }
    inside = 1
    comment = ""
}
inside {
    line = $0
    ends = line ~ /\*\//
    sub(/^ *\/\*+ ?/, "", line)
    sub(/ *\*+\/.*$/, "", line)
    sub(/^ \* ?/, "", line)
    comment = comment line "\n"
    if (ends) {
        inside = 0
        if (first) { # what holds for all functions
            n = split(comment, part, /\n *\n/)
            for (i = 1; i <= n; i++) {
                gsub(/\n/, " ", part[i])
                sub(/ +$/, "", part[i])
                if (sub(/^Error convention[^:]*: /, "", part[i])) errors = section("RETURN VALUE", part[i])
                if (sub(/^Thread safety, /, "", part[i])) threads = section("THREAD SAFETY", part[i])
            }
            first = 0
            comment = ""
        }
    }
    next
}
/^PAT_PUBLIC / { declaring = 1; declaration = "" }
declaring {
    line = $0
    sub(/^PAT_PUBLIC /, "", line)
    sub(/^           /, "", line) # as many columns
    declaration = declaration (declaration != "" ? "\n" : "") line
    if (line ~ /;/) {
        declaring = 0
        num++
        prototype[num] = declaration
        match(declaration, /PAT_[A-Za-z_]+\(/)
        name[num] = substr(declaration, RSTART, RLENGTH - 1)
        about[num] = paragraphs(comment)
        comment = ""
    }
    next
}
# A type belongs to the group as it stands.
/^typedef / { code = "" ; typing = 1 }
typing {
    code = code roff($0) "\n"
    if ($0 ~ /^}|^typedef .*;/) {
        typing = 0
        preface = preface (preface != "" ? ".PP\n" : "") paragraphs(comment) ".PP\n.nf\n" code ".fi\n"
        comment = code = ""
    }
    next
}
END { finish_page() }
