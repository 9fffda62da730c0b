/* A ROM for Bochs. It switches from the reset vector to 64-bit mode, reads test vectors of tests/bochs_disk.c from the
   first ATA disk, and computes each with an instruction. Each result goes to port 0xe9 as a line, "=" and 8 hexadecimal
   digits; then Bochs ends. */
        .set base, 0xffff0000
        .set tables, 0x1000
        .set stack, 0x8000
        .set disk, 0x200000
        .text
        .code16
rom:
start:
        cli
        movb $2, %al                    /* A20 */
        outb %al, $0x92
        lgdtl %cs:gdt_pointer - rom
        movl $1, %eax
        movl %eax, %cr0
        ljmpl $8, $protected - rom + base
        .code32
protected:
        movw $16, %ax
        movw %ax, %ds
        movw %ax, %es
        movw %ax, %ss
        movl $stack, %esp
        movl $tables, %edi              /* 4 pages of 1 GiB, mapped to themselves */
        movl $0x800, %ecx
        xorl %eax, %eax
        cld
        rep stosl
        movl $tables + 0x1003, tables
        movl $0x83, tables + 0x1000
        movl $0x40000083, tables + 0x1008
        movl $0x80000083, tables + 0x1010
        movl $0xc0000083, tables + 0x1018
        movl $tables, %eax
        movl %eax, %cr3
        movl $0x40620, %eax             /* PAE, OSFXSR, OSXMMEXCPT, OSXSAVE */
        movl %eax, %cr4
        movl $0xc0000080, %ecx
        rdmsr
        orl $0x100, %eax
        wrmsr
        movl $0x80000001, %eax
        movl %eax, %cr0
        ljmpl $24, $long_mode - rom + base
        .code64
long_mode:
        movl $0xd, %eax                 /* all state components that this CPU has */
        xorl %ecx, %ecx
        cpuid
        xorl %ecx, %ecx
        xsetbv
        leaq rom(%rip), %rbx
/* ---- read the whole disk into memory, a sector at a time ---- */
        movl $disk, %edi
        xorl %esi, %esi                 /* esi: number of the next sector */
        call read_sector
        movl disk + 4, %eax
        imull $132, %eax
        addl $1023, %eax
        shrl $9, %eax
        movl %eax, %ebp
1:      incl %esi
        cmpl %ebp, %esi
        jae 2f
        call read_sector
        jmp 1b
2:      movl disk, %eax
        leaq instructions(%rip), %r12
        movslq (%r12,%rax,4), %rax
        addq %rax, %r12
        leaq configuration(%rip), %r13
        movl disk + 4, %r14d
        movl $disk + 512, %r15d
/* ---- compute each test vector ---- */
row:    testl %r14d, %r14d
        jz end
        call *%r12
        movb $'=', %al
        outb %al, $0xe9
        movl $8, %ecx
1:      roll $4, %edx
        movl %edx, %eax
        andl $15, %eax
        movb digits - rom(%rbx,%rax), %al
        outb %al, $0xe9
        loop 1b
        movb $'\n', %al
        outb %al, $0xe9
        addq $132, %r15
        decl %r14d
        jmp row
end:    leaq shutdown(%rip), %rsi
        movl $8, %ecx
        movw $0x8900, %dx
        rep outsb
        hlt

read_sector:                            /* reads sector number esi to rdi, and advances rdi */
        movw $0x1f7, %dx
1:      inb %dx, %al
        testb $0x80, %al
        jnz 1b
        movl %esi, %eax
        movw $0x1f3, %dx
        outb %al, %dx
        shrl $8, %eax
        incw %dx
        outb %al, %dx
        shrl $8, %eax
        incw %dx
        outb %al, %dx
        movb $0xe0, %al
        incw %dx
        outb %al, %dx
        movb $1, %al
        movw $0x1f2, %dx
        outb %al, %dx
        movb $0x20, %al
        movw $0x1f7, %dx
        outb %al, %dx
1:      inb %dx, %al
        testb $0x80, %al
        jnz 1b
        testb $8, %al
        jz 1b
        movw $0x1f0, %dx
        movl $256, %ecx
        rep insw
        ret

        .macro lanes code:vararg        /* edx: the result */
        movd (%r15), %xmm1
        movd 64(%r15), %xmm2
        movd 128(%r15), %xmm0
        .byte \code
        movd %xmm0, %edx
        ret
        .endm
        .macro tiles code:vararg
        ldtilecfg (%r13)
        movl $64, %eax
        movl $4, %ecx
        leaq 64(%r15), %rdx
        leaq 128(%r15), %rsi
        tileloadd (%rsi,%rax), %tmm0
        tileloadd (%r15,%rax), %tmm1
        tileloadd (%rdx,%rcx), %tmm2
        .byte \code
        movl $stack, %esi
        tilestored %tmm0, (%rsi,%rax)
        movl (%rsi), %edx
        ret
        .endm
#define INSTRUCTION(name, k, bytes, how, ...) name: how __VA_ARGS__
#include "bochs.def"
#undef INSTRUCTION

        .balign 4
instructions:
#define INSTRUCTION(name, ...) .long name - instructions
#include "bochs.def"
        .balign 64
configuration:                          /* tiles of one element: 1 x 4, 1 x 64 and 16 x 4 bytes */
        .byte 1, 0
        .skip 14
        .word 4, 64, 4
        .skip 26
        .byte 1, 1, 16
        .skip 13
digits: .ascii "0123456789abcdef"
shutdown: .ascii "Shutdown"
        .balign 8
gdt:    .quad 0, 0x00cf9a000000ffff, 0x00cf92000000ffff, 0x00af9a000000ffff
gdt_pointer:
        .word gdt_pointer - gdt - 1
        .long gdt - rom + base
        .org 0xfff0
        .code16
        jmp start
        .org 0x10000
